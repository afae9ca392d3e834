import type { Chain } from './split.js'
import type { Open, Step } from './step.js'
import type { Undoing } from './undoing.js'

/** A chain as it was executed. */
export interface Taken {
  readonly chain: Chain
  readonly steps: readonly Step[]
  readonly open: Open
  /** Steps that take an earlier step back. They have to be asked for in a later turn. */
  readonly undoings: readonly Undoing[]
}

import type { Entity } from './entities.js'
import type { ForeignTool } from './shape.js'

/** Declarations of a draft environment. */
export interface DraftEnvironment {
  readonly name: string
  readonly entities: readonly Entity[]
  /** By their codes, what they say. */
  readonly failures: ReadonlyMap<string, string>
  readonly tools: readonly DraftTool[]
}

/** A tool of the draft, by the name that it has there. */
export interface DraftTool {
  readonly name: string
  readonly source: ForeignTool
  /** Arguments that were renamed: as they were, and as they are. */
  readonly renamed: readonly (readonly [string, string])[]
  /** Arguments that divide the lists of the imported service into pages. */
  readonly paging: readonly string[]
  readonly undescribed: readonly string[]
}

import type { Draw } from '../../rollout/engine/types.js'

/** Tokens and mask of a rollout. */
export interface FlatRollout {
  readonly tokens: readonly number[]
  /** 1 where the policy sampled the token, as long as `tokens`. */
  readonly mask: Uint8Array
}

/** Concatenated rollouts; `cu_seqlens` contains the start of each, and the end. */
export interface FlatLayout {
  readonly ids: Int32Array
  readonly loss_mask: Uint8Array
  readonly cu_seqlens: Int32Array
}

export function layOut(rollouts: readonly FlatRollout[]): FlatLayout {
  const total = tokensOf(rollouts)
  const layout = {
    ids: new Int32Array(total),
    loss_mask: new Uint8Array(total),
    cu_seqlens: new Int32Array(rollouts.length + 1),
  }
  let at = 0
  for (const [i, { tokens, mask }] of rollouts.entries()) {
    layout.ids.set(tokens, at)
    layout.loss_mask.set(mask, at)
    at += tokens.length
    layout.cu_seqlens[i + 1] = at
  }
  return layout
}

/** Lays values of sampled tokens out like `ids`; 0 elsewhere. @param valuesOf  one per sampled token of a rollout; null: none */
export function spread<R extends FlatRollout, T extends Float32Array | Uint32Array>(
  rollouts: readonly R[],
  into: new (length: number) => T,
  valuesOf: (rollout: R) => readonly number[] | null,
): T {
  const flat = new into(tokensOf(rollouts))
  let at = 0
  for (const rollout of rollouts) {
    const values = valuesOf(rollout)
    let sampled = 0
    if (values)
      for (const [offset, bit] of rollout.mask.entries()) if (bit === 1) flat[at + offset] = values[sampled++]!
    at += rollout.tokens.length
  }
  return flat
}

/** Lays out the draws of sampled tokens for prove_trainer/draws.py. @param drawsOf  null: not needed */
export function drawTensors<R extends FlatRollout>(
  rollouts: readonly R[],
  drawsOf: (rollout: R) => readonly Draw[] | null,
): { readonly draw_seed: Uint32Array; readonly draw_position: Uint32Array } {
  const flat = (part: keyof Draw): Uint32Array =>
    spread(rollouts, Uint32Array, (rollout) => drawsOf(rollout)?.map((draw) => draw[part]) ?? null)
  return { draw_seed: flat('seed'), draw_position: flat('position') }
}

const tokensOf = (rollouts: readonly FlatRollout[]): number =>
  rollouts.reduce((sum, { tokens }) => sum + tokens.length, 0)

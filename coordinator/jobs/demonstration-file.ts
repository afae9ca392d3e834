import { createHash } from 'node:crypto'
import writeFileAtomic from 'write-file-atomic'
import { encodeSafetensors } from './safetensors.js'

/** A demonstration: a conversation in tokens. */
export interface Demonstration {
  readonly tokens: readonly number[]
  /** Per token: 1 where the assistant wrote it, 0 elsewhere. */
  readonly mask: Uint8Array
}

/** Encodes demonstrations for the trainer (docs/reference/trainer.md, "Warm start"): `ids`, `loss_mask` and offsets `cu_seqlens`. */
export function encodeDemonstrations(demonstrations: readonly Demonstration[]): Uint8Array {
  const starts = [0]
  for (const { tokens } of demonstrations) starts.push(starts.at(-1)! + tokens.length)
  const ids = new Int32Array(starts.at(-1)!)
  const mask = new Uint8Array(starts.at(-1)!)
  demonstrations.forEach((one, i) => {
    ids.set(one.tokens, starts[i])
    mask.set(one.mask, starts[i])
  })
  return encodeSafetensors({ ids, loss_mask: mask, cu_seqlens: Int32Array.from(starts) })
}

/** Writes demonstrations to a file. @returns its SHA-256 (hex) */
export async function writeDemonstrations(file: string, demonstrations: readonly Demonstration[]): Promise<string> {
  const bytes = Buffer.from(encodeDemonstrations(demonstrations))
  await writeFileAtomic(file, bytes)
  return createHash('sha256').update(bytes).digest('hex')
}

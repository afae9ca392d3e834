import { createHmac } from 'node:crypto'

/** Sampler seeds lie in 0 .. 2^32 - 2: llama.cpp reads 2^32 - 1 as "random". */
const SEEDS = 2 ** 32 - 1

/** The first 32 bits of HMAC-SHA256(leaseSeed, domain ‖ indices). */
function derive(leaseSeed: Uint8Array, domain: string, ...indices: readonly number[]): number {
  return createHmac('sha256', leaseSeed)
    .update(JSON.stringify([domain, ...indices]))
    .digest()
    .readUInt32LE(0)
}

/** The seed of the sampler for one assistant turn of one rollout of the leased group. */
export function samplerSeed(leaseSeed: Uint8Array, rollout: number, turn: number): number {
  return derive(leaseSeed, 'prove/sampler/1', rollout, turn) % SEEDS
}

/** Which of `count` tasks the lease is about. */
export function taskIndex(leaseSeed: Uint8Array, count: number): number {
  return derive(leaseSeed, 'prove/task/1') % count
}

import { createHmac } from 'node:crypto'

/** Sampler seeds lie in 0 .. 2^32 - 2: llama.cpp reads 2^32 - 1 as "random". */
const SEEDS = 2 ** 32 - 1

/** HMAC-SHA256(leaseSeed, domain ‖ indices): 32 bytes that nobody can foresee without the seed. */
function derive(leaseSeed: Uint8Array, domain: string, ...indices: readonly number[]): Buffer {
  return createHmac('sha256', leaseSeed)
    .update(JSON.stringify([domain, ...indices]))
    .digest()
}

/** The seed of the sampler for one assistant turn of one rollout of the leased group. */
export function samplerSeed(leaseSeed: Uint8Array, rollout: number, turn: number): number {
  return derive(leaseSeed, 'prove/sampler/1', rollout, turn).readUInt32LE(0) % SEEDS
}

/**
 * Which of `count` tasks the lease is about: the first of the seed's eight draws that is not resting, or the last of them.
 * @param isDisabled  tasks that the lease's round gives no leases for
 */
export function taskIndex(leaseSeed: Uint8Array, count: number, isDisabled: (index: number) => boolean): number {
  const words = derive(leaseSeed, 'prove/task/1')
  let index = 0
  for (let at = 0; at < words.length; at += 4) {
    index = words.readUInt32LE(at) % count
    if (!isDisabled(index)) break
  }
  return index
}

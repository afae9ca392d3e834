import { createHmac } from 'node:crypto'

/** Number of sampler seeds, 0 .. 2^32 - 2: llama.cpp reads 2^32 - 1 as "random". */
const SEEDS = 2 ** 32 - 1

/** Returns HMAC-SHA256(leaseSeed, domain ‖ indices): 32 bytes that are unpredictable without the seed. */
function derive(leaseSeed: Uint8Array, domain: string, ...indices: readonly number[]): Buffer {
  return createHmac('sha256', leaseSeed)
    .update(JSON.stringify([domain, ...indices]))
    .digest()
}

/** Returns the sampler seed of one assistant turn of one rollout of the leased group. */
export function samplerSeed(leaseSeed: Uint8Array, rollout: number, turn: number): number {
  return derive(leaseSeed, 'prove/sampler/1', rollout, turn).readUInt32LE(0) % SEEDS
}

/**
 * Returns the index of a lease's task among `count` tasks: the first of eight indices from the seed that is not disabled, or the last.
 * @param isDisabled  whether the lease's round gives no leases for a task
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

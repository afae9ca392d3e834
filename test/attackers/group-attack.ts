import type { Rollout } from '../../rollout/episode/index.js'
import type { Arena, Outcome } from './arena.js'
import { type Attack, type Attempt, checkOf, type Place } from './attack.js'
import { type Forgery, isZeroVariance, packGroup, sampledTokens, type Work } from './group-work.js'

/** A group of an attacker. */
export interface MadeGroup {
  readonly rollouts: readonly Rollout[]
  readonly forgery?: Forgery
}

export interface GroupAttack extends Omit<Attack, 'attempt'> {
  /** Codes it may be refused with. */
  readonly codes: readonly string[]
  /** Sampled tokens that a group must have; smaller ones are not handed over. */
  readonly tokens?: number
  /** Groups without reward variance are handed over too. */
  readonly zeroVariance?: boolean
  /** @returns the group for a lease, or null when this lease does not lend itself to the attack */
  make(arena: Arena, work: Work, i: number, signal: AbortSignal): Promise<MadeGroup | null>
}

/** Tests on numbers are promised to work from here on (docs/explain/verification.md). */
export const ENOUGH_TOKENS = 500
const KEYS_TRIED = 40

/**
 * An attack that hands over a group of its own for a lease of its own. A group without reward variance turns no update, so
 * an attacker does not bother with one: it gives the lease back and comes with another key.
 */
export function groupAttack({ codes, tokens = 0, zeroVariance = false, make, ...attack }: GroupAttack): Attack {
  return {
    ...attack,
    async attempt(arena, i, signal) {
      for (let key = 0; key < KEYS_TRIED; key++) {
        const node = await arena.recruit()
        try {
          const [work] = await arena.work(node, 1, signal)
          const made = await make(arena, work!, i, signal)
          if (
            made === null ||
            (!zeroVariance && isZeroVariance(made.rollouts)) ||
            sampledTokens(made.rollouts) < tokens
          ) {
            await node.giveBack([work!.lease])
            continue
          }
          const packed = await packGroup(work!, made.rollouts, made.forgery)
          return await judgeAttempt(arena, codes, work!, () => arena.handOver(work!, packed))
        } finally {
          await node.close()
        }
      }
      throw new Error(`${attack.name}: none of ${KEYS_TRIED} leases lent itself to it`)
    },
  }
}

/** Whether a group was refused with one of the codes, and earned and taught nothing. */
export async function judgeAttempt(
  arena: Arena,
  codes: readonly string[],
  { node, lease }: Pick<Work, 'node' | 'lease'>,
  handOver: () => Promise<Outcome>,
): Promise<Attempt> {
  const before = arena.cpuMs()
  const { accepted, code, detail } = await handOver()
  const costMs = arena.cpuMs() - before
  const state = arena.state()
  const credit = state.nodes.get(node.peerId)?.credit ?? 0
  const usable = state.trainable(Number.MAX_SAFE_INTEGER).some(({ leaseId }) => leaseId === lease.leaseId)
  const batched = [...state.batches.values()].some(({ leaseIds }) => leaseIds.includes(lease.leaseId))
  const caught = !accepted && code !== null && codes.includes(code) && credit === 0 && !usable && !batched
  const place: Place | null = accepted || code === null ? null : checkOf(code)
  return { caught, place, code, costMs, detail: accepted ? `accepted, credit ${credit}` : detail }
}

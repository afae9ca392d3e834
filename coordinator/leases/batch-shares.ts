import type { RunConfiguration } from '../ledger/run-configuration.js'
import type { JudgedGroup, Supplier } from '../ledger/run-state.js'

type Shares = Pick<RunConfiguration, 'batchGroups' | 'influence'>

/** Length of a group, in usual lengths, up to which the group takes one place of a batch. A longer group takes proportionally more. */
const LONG = 2

/** Tells the share of its leases that a key delivers, without forgiven losses (`ledger/delivery-record.ts`). */
export type ReliabilityOf = (node: string) => number

const ALL_RELIABLE: ReliabilityOf = () => 1

/** Shares grow in steps of this fraction of a batch. */
const STEPS = 64

const shareOf = (groups: number, share: number): number => Math.max(1, Math.floor(groups * share))

/**
 * Returns how many groups of a batch one key may supply in a run where enough other keys are at work. Returns null if the number
 * depends on the other keys, see `mostOfBatch`.
 * @param others  number of other keys at work
 */
export function shareAmong({ batchGroups, influence }: Shares, others: number): number | null {
  const share = shareOf(batchGroups, influence.perKey)
  return share * (1 + others) >= batchGroups ? share : null
}

/**
 * Returns how many groups of a batch one key may supply: its share, or more where the others cannot fill the rest.
 * @param waiting   usable groups of the other keys
 * @param suppliers the other keys at work, which can supply further groups
 */
export function mostOfBatch(
  { batchGroups, influence }: Shares,
  waiting: readonly { readonly node: string }[],
  suppliers: readonly Supplier[],
): number {
  const supply = new Map<string, number>()
  for (const { node } of waiting) supply.set(node, (supply.get(node) ?? 0) + 1)
  for (const { node } of suppliers) supply.set(node, batchGroups)
  let most = shareOf(batchGroups, influence.perKey)
  const others = (): number => [...supply.values()].reduce((sum, own) => sum + Math.min(own, most), 0)
  while (most + others() < batchGroups) most += 1
  return most
}

/**
 * Chooses the next batch: the oldest groups of which no key and no block of addresses supplies more than its share. A share is
 * counted in places, since the loss is a sum over tokens. A group ten times as long as the others would move the policy as ten
 * groups do. A batch that cannot be filled would stop the run. So the shares grow, but only while no key at work could still
 * fill the batch. The share of a block grows before the share of a key, and the share of keys that abandon leases before both.
 * @param usable  in log order
 * @param reliabilityOf  default: every key is reliable
 * @returns  null while there are too few groups, or while other keys at work can still supply theirs
 */
export function chooseBatch(
  { batchGroups, influence }: Shares,
  usable: readonly JudgedGroup[],
  suppliers: readonly Supplier[],
  reliabilityOf = ALL_RELIABLE,
): JudgedGroup[] | null {
  if (usable.length < batchGroups) return null
  const isReliable = ({ node }: Supplier): boolean => reliabilityOf(node) === 1
  const usual = usualTokens(usable)
  const placesOf = ({ sampledTokens }: JudgedGroup): number => Math.max(1, sampledTokens / (LONG * usual))
  const all = usable.reduce((sum, group) => sum + placesOf(group), 0)
  const step = Math.ceil(batchGroups / STEPS)
  let perKey = shareOf(batchGroups, influence.perKey)
  let perBlock = shareOf(batchGroups, influence.perAddressBlock)
  let ofUnreliable = placesOfUnreliable(batchGroups, [...usable, ...suppliers], reliabilityOf)
  for (;;) {
    const taken = new Map<string, number>()
    const fits = (one: Supplier, places: number): boolean =>
      (taken.get(keyOf(one)) ?? 0) + places <= perKey &&
      (taken.get(blockOf(one)) ?? 0) + places <= perBlock &&
      (isReliable(one) || (taken.get(UNRELIABLE) ?? 0) + places <= ofUnreliable)
    const chosen: JudgedGroup[] = []
    for (const group of usable) {
      if (chosen.length === batchGroups) break
      const places = placesOf(group)
      if (!fits(group, places)) continue
      const parts = [keyOf(group), blockOf(group), ...(isReliable(group) ? [] : [UNRELIABLE])]
      for (const part of parts) taken.set(part, (taken.get(part) ?? 0) + places)
      chosen.push(group)
    }
    if (chosen.length === batchGroups) return chosen
    if (suppliers.some((one) => fits(one, 1))) return null
    if (ofUnreliable < all) ofUnreliable += step
    else if (perBlock < all) perBlock += step
    else perKey += step
  }
}

const UNRELIABLE = 'keys that abandon leases'

/**
 * Returns how many places of a batch all keys together may take that abandon more leases than are forgiven. A key that keeps only the
 * leases that suit it chooses what the run trains on. So a key counts among the keys by the square of its reliability: once for the groups
 * that it does not deliver, and once for its choice.
 */
function placesOfUnreliable(batchGroups: number, keys: readonly Supplier[], reliabilityOf: ReliabilityOf): number {
  const weights = [...new Set(keys.map(({ node }) => node))].map((node) => reliabilityOf(node) ** 2)
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const unreliable = weights.reduce((sum, weight) => sum + (weight < 1 ? weight : 0), 0)
  return unreliable === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.round((batchGroups * unreliable) / all))
}

/** Returns the tokens of a usual group: the median over keys of their means, so that no single key decides what is usual. */
function usualTokens(groups: readonly JudgedGroup[]): number {
  const tokens = new Map<string, number[]>()
  for (const { node, sampledTokens } of groups) tokens.set(node, [...(tokens.get(node) ?? []), sampledTokens])
  const means = [...tokens.values()]
    .map((own) => own.reduce((sum, count) => sum + count, 0) / own.length)
    .sort((a, b) => a - b)
  return Math.max(1, means[Math.floor((means.length - 1) / 2)]!)
}

const keyOf = ({ node }: Supplier): string => `key ${node}`

/** A node without a known address counts as a block with one node. */
const blockOf = ({ addressBlock, node }: Supplier): string => `block ${addressBlock ?? `of ${node}`}`

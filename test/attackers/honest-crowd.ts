import type { Rollout } from '../../rollout/episode/index.js'
import type { Arena, Outcome } from './arena.js'
import { LEAST_SHARE, PROBATION } from './arena-run.js'
import { isZeroVariance, type PackedGroup, packGroup, sampledTokens, type Work } from './group-work.js'
import type { Participant } from './participant.js'

/** An honest group, ready to be handed over. */
export interface HonestGroup {
  readonly work: Work
  readonly rollouts: readonly Rollout[]
  readonly packed: PackedGroup
}

/** Honest volunteers among the attackers. Whatever becomes of their groups is counted. */
export interface HonestCrowd {
  /** Groups with reward variance that were judged so far, of attackers that had to do honest work too. */
  readonly groups: number
  /** What the coordinator holds against honest volunteers: refused groups with their reasons, and quarantines. */
  readonly refused: readonly string[]
  /**
   * A group with reward variance, not handed over yet; those without are handed over on the way, and so are smaller ones.
   * @param node  who makes it; default: the volunteer whose turn it is
   */
  group(signal: AbortSignal, node?: Participant, tokens?: number): Promise<HonestGroup>
  deliver(group: HonestGroup): Promise<Outcome>
  /** Gets a lease, gives it back, and hears its verdicts. @throws when the coordinator does not answer */
  ask(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** All groups of a young key are audited: so nobody grows old. */
const GROUPS_PER_KEY = PROBATION
/** Take turns: while an attacker holds a lease, a batch of one volunteer's groups alone would break the cap per key. */
const AT_WORK = 2

interface Member {
  readonly node: Participant
  /** Leases that it has taken in all, and those of them that it has not delivered yet. */
  leases: number
  open: number
}

/** Has a participant deliver honest groups until no more of them are audited than of any other's. */
export async function earnTrust(arena: Arena, node: Participant, signal: AbortSignal): Promise<void> {
  while ((arena.state().nodes.get(node.peerId)?.reputation.streak ?? 0) < PROBATION / LEAST_SHARE)
    await arena.honest.deliver(await arena.honest.group(signal, node))
}

export function createHonestCrowd(arenaOf: () => Arena): HonestCrowd {
  const members: Member[] = []
  const atWork: Member[] = []
  let groups = 0

  /** The member whose turn it is. */
  const next = async (): Promise<Member> => {
    const first = atWork.shift()
    if (first && first.leases < GROUPS_PER_KEY) {
      atWork.push(first)
      if (atWork.length === AT_WORK) return first
    }
    const member = { node: await arenaOf().recruit(), leases: 0, open: 0 }
    members.push(member)
    atWork.push(member)
    await closeIdle()
    return member
  }

  /** Hosts of those who have done their part. */
  const closeIdle = async (): Promise<void> => {
    for (const member of members) if (member.open === 0 && !atWork.includes(member)) await member.node.close()
  }

  /** Whatever the coordinator holds against a volunteer, verdicts that a later audit took back included. */
  const chargesOf = ({ node }: Member): string[] => {
    const record = arenaOf().state().nodes.get(node.peerId)
    if (!record) return []
    const charges = record.verdicts.flatMap(({ accepted, code, detail }) => (accepted ? [] : [`${code}: ${detail}`]))
    return record.reputation.isQuarantined(Date.now()) ? [...charges, 'quarantined'] : charges
  }

  const handOver = async ({ work, packed }: HonestGroup): Promise<Outcome> => {
    const outcome = await arenaOf().handOver(work, packed)
    work.node.holding.delete(packed.leaseId)
    const member = members.find(({ node }) => node === work.node)
    if (member) member.open -= 1
    return outcome
  }

  const deliver = (group: HonestGroup): Promise<Outcome> => {
    groups += 1
    return handOver(group)
  }

  return {
    get groups() {
      return groups
    },
    get refused() {
      return members.flatMap(chargesOf)
    },
    async group(signal, node, tokens = 0) {
      const arena = arenaOf()
      for (;;) {
        const member = node ? null : await next()
        const [work] = await arena.work(node ?? member!.node, 1, signal)
        if (member) {
          member.leases += 1
          member.open += 1
        }
        const rollouts = await arena.rollouts(work!, signal)
        const group = { work: work!, rollouts, packed: await packGroup(work!, rollouts) }
        if (isZeroVariance(rollouts)) await handOver(group)
        else if (sampledTokens(rollouts) < tokens) await deliver(group)
        else return group
      }
    },
    deliver,
    async ask(signal) {
      const { node } = await next()
      const [work] = await arenaOf().work(node, 1, signal)
      await node.giveBack([work!.lease])
      await node.verdicts()
    },
    async close() {
      for (const { node } of members) await node.close()
    },
  }
}

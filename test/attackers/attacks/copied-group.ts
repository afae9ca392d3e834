import { type GroupBody, groupBody } from '../../../proto/index.js'
import type { Rollout } from '../../../rollout/episode/index.js'
import { fetchGroupBody } from '../../../swarm/index.js'
import { soon } from '../../support/swarm-nodes.js'
import type { Arena } from '../arena.js'
import type { Attack, Attempt } from '../attack.js'
import { ENOUGH_TOKENS, judgeAttempt } from '../group-attack.js'
import { packGroup, type Work } from '../group-work.js'
import type { HonestGroup } from '../honest-crowd.js'

/** A new version may come in between: then the victim's log-probabilities are those of another policy. */
const CODES = ['duplicate', 'sampler_mismatch', 'logprob_mismatch']
const LEASES = 8
/** Keys of a block that has abandoned leases get few of them at a time. */
const KEYS_TRIED = 40

/** A lease of an attacker for the victim's very task, the only one for which a copy replays. */
async function sameTask(arena: Arena, taskId: string, signal: AbortSignal): Promise<Work> {
  for (let key = 0; key < KEYS_TRIED; key++) {
    const node = await arena.recruit()
    const leases = await arena.work(node, LEASES, signal)
    const fitting = leases.find(({ task }) => task.id === taskId)
    await node.giveBack(leases.filter((work) => work !== fitting).map(({ lease }) => lease))
    if (fitting) return fitting
    await node.close()
  }
  throw new Error(`none of ${KEYS_TRIED} keys got a lease for the task`)
}

/** The victim's body under the attacker's lease. */
const packCopy = (work: Work, rollouts: readonly Rollout[], stolen: GroupBody) =>
  packGroup(work, rollouts, {
    body: ({ leaseId, taskId, policyId }) => ({ ...stolen, leaseId, taskId, policyId }),
  })

async function tryCopy(
  arena: Arena,
  { rollouts, packed }: HonestGroup,
  work: Work,
  stolen: Uint8Array,
): Promise<Attempt> {
  const copy = await packCopy(work, rollouts, groupBody.parse(stolen))
  const attempt = await judgeAttempt(arena, CODES, work, () => arena.handOver(work, copy))
  // The victim's own lease, signed by the attacker.
  const theft = await arena.handOver(
    work,
    await packGroup({ node: work.node, lease: { ...work.lease, leaseId: packed.leaseId } }, rollouts),
  )
  return { ...attempt, caught: attempt.caught && theft.code === 'lease_owner' }
}

export const copiedGroup: Attack = {
  name: 'copied-group',
  about: 'delivers a copy of an accepted group, for an own lease or for the author’s lease',
  provable: true,
  places: ['4', '5', '6'],
  async attempt(arena, _, signal) {
    const victim = await arena.honest.group(signal, undefined, ENOUGH_TOKENS)
    const accepted = await arena.honest.deliver(victim)
    const work = await sameTask(arena, victim.work.task.id, signal)
    try {
      const { bodySha256, body } = victim.packed
      const want = { bodySha256, bodySizeBytes: body.length }
      const stolen = await fetchGroupBody(work.node.host, [arena.run.runId], want, soon())
      const attempt = await tryCopy(arena, victim, work, stolen)
      return { ...attempt, caught: attempt.caught && accepted.accepted }
    } finally {
      await work.node.close()
    }
  },
}

export const frontRunning: Attack = {
  name: 'front-running',
  about: 'copies a group on its way to the coordinator, and delivers the copy first',
  provable: true,
  places: ['4', '5', '6'],
  async attempt(arena, _, signal) {
    const victim = await arena.honest.group(signal, undefined, ENOUGH_TOKENS)
    const work = await sameTask(arena, victim.work.task.id, signal)
    try {
      const attempt = await tryCopy(arena, victim, work, victim.packed.body)
      const { accepted, code } = await arena.honest.deliver(victim)
      const detail = accepted ? attempt.detail : `the victim was refused: ${code}`
      return { ...attempt, caught: attempt.caught && accepted, detail }
    } finally {
      await work.node.close()
    }
  },
}

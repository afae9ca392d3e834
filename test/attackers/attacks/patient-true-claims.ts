import { setTimeout as sleep } from 'node:timers/promises'
import type { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import type { Rollout } from '../../../rollout/episode/index.js'
import type { Arena } from '../arena.js'
import { LEAST_SHARE } from '../arena-run.js'
import { type Attack, type Attempt, checkOf } from '../attack.js'
import { trueClaims } from '../group-cheats.js'
import { packGroup, type Work } from '../group-work.js'
import { earnTrust } from '../honest-crowd.js'
import type { Participant } from '../participant.js'
import { scriptedGroup } from '../scripted-group.js'

/** So many groups in a row are all drawn for an audit once in a thousand times. */
const MOST = Math.ceil(Math.log(1e-3) / Math.log(LEAST_SHARE))
const PAUSE_MS = 100

async function writtenGroup(arena: Arena, work: Work, signal: AbortSignal): Promise<Rollout[]> {
  const engine = await arena.engine(work.policy, signal)
  const rollouts: Rollout[] = []
  for (const rollout of await scriptedGroup(arena, work, signal))
    rollouts.push({ ...rollout, logprobs: await trueClaims(engine, rollout, signal) })
  return rollouts
}

const batchOf = (state: RunReducer, leaseId: string) =>
  [...state.batches.values()].find(({ leaseIds }) => leaseIds.includes(leaseId))

/** Helps the run on until a group was in a step. */
async function untilTrained(arena: Arena, leaseId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const state = arena.state()
    const batch = batchOf(state, leaseId)
    if (batch && state.trained.has(batch.batchId)) return
    if (batch) await sleep(PAUSE_MS, undefined, { signal })
    else await arena.honest.deliver(await arena.honest.group(signal))
  }
}

/** @returns null when an audit has drawn the group: then this is no more than canned text */
async function deliverUndrawn(arena: Arena, node: Participant, signal: AbortSignal): Promise<string | null> {
  await earnTrust(arena, node, signal)
  const [work] = await arena.work(node, 1, signal)
  const { leaseId } = work!.lease
  const { accepted } = await arena.handOver(work!, await packGroup(work!, await writtenGroup(arena, work!, signal)))
  node.holding.delete(leaseId)
  return accepted ? leaseId : null
}

export const patientTrueClaims: Attack = {
  name: 'patient-true-claims',
  about: 'delivers honest groups until few are audited, and then written text with true log-probabilities',
  provable: false,
  places: ['6'],
  async attempt(arena, _, signal): Promise<Attempt> {
    for (let key = 0; key < MOST; key++) {
      const node = await arena.recruit()
      try {
        const before = arena.cpuMs()
        const leaseId = await deliverUndrawn(arena, node, signal)
        if (leaseId === null) continue
        await untilTrained(arena, leaseId, signal)
        const state = arena.state()
        const verdict = state.nodes.get(node.peerId)!.verdicts.findLast((one) => one.leaseId === leaseId)!
        const { accepted, code, detail } = verdict
        const caught = !accepted && code === 'sampler_mismatch' && !state.accepted.has(leaseId)
        const what = `in ${batchOf(state, leaseId)!.batchId}: ${accepted ? 'trained on' : `left out, ${detail}`}`
        return { caught, place: code && checkOf(code), code, costMs: arena.cpuMs() - before, detail: what }
      } finally {
        await node.close()
      }
    }
    throw new Error(`all of ${MOST} groups were drawn for an audit`)
  },
}

import { setTimeout as sleep } from 'node:timers/promises'
import { runGroup } from '../../../rollout/episode/index.js'
import type { Arena } from '../arena.js'
import { GROUP_SIZE, LEAST_SHARE, LIMITS_OF_RUN } from '../arena-run.js'
import { type Attack, checkOf } from '../attack.js'
import { ENOUGH_TOKENS } from '../group-attack.js'
import { isZeroVariance, packGroup, sampledTokens } from '../group-work.js'
import { earnTrust } from '../honest-crowd.js'
import type { Participant } from '../participant.js'

const CODES = ['logprob_mismatch', 'sampler_mismatch', 'implausible_end']
/** So many cheating groups in a row are passed over by one key in 100,000. */
const MOST = Math.ceil(Math.log(1e-5) / Math.log(1 - LEAST_SHARE))
const PAUSE_MS = 100

/** Waits until the coordinator has looked again at all that it had believed of a node. */
async function untilCleared(arena: Arena, { peerId }: Participant, signal: AbortSignal): Promise<void> {
  while ([...arena.state().suspects.values()].some(({ node }) => node === peerId))
    await sleep(PAUSE_MS, undefined, { signal })
}

export const lateCheating: Attack = {
  name: 'late-cheating',
  about: 'delivers honest groups until few are audited, and then samples from the bare base model',
  provable: false,
  places: ['5', '6'],
  async attempt(arena, _, signal) {
    const node = await arena.recruit()
    const before = arena.cpuMs()
    const cheats: string[] = []
    try {
      await earnTrust(arena, node, signal)
      let code: string | null = null
      while (code === null && cheats.length < MOST) {
        const [work] = await arena.work(node, 1, signal)
        const { task, seed, lease } = work!
        const base = await arena.engine(null, signal)
        const cheat = await runGroup(task, GROUP_SIZE, seed, base, arena.runtime, LIMITS_OF_RUN, signal)
        const isUseful = !isZeroVariance(cheat) && sampledTokens(cheat) >= ENOUGH_TOKENS
        const rollouts = isUseful ? cheat : await arena.rollouts(work!, signal)
        const outcome = await arena.handOver(work!, await packGroup(work!, rollouts))
        node.holding.delete(lease.leaseId)
        if (isUseful) cheats.push(lease.leaseId)
        code = outcome.code
      }
      await untilCleared(arena, node, signal)
      const state = arena.state()
      const trained = cheats.filter((id) => [...state.batches.values()].some(({ leaseIds }) => leaseIds.includes(id)))
      const kept = cheats.filter((id) => state.accepted.has(id) && !trained.includes(id))
      const charged = [...state.judged.values()].filter(
        ({ leaseId, node: owner, zeroVariance }) =>
          owner === node.peerId && !zeroVariance && !cheats.includes(leaseId) && !state.accepted.has(leaseId),
      )
      const caught = code !== null && CODES.includes(code) && kept.length === 0 && charged.length === 0
      return {
        caught,
        place: code === null ? null : checkOf(code),
        code,
        costMs: arena.cpuMs() - before,
        detail: `caught with cheating group ${cheats.length}, of those before ${trained.length} are in batches and ${kept.length} still believed; ${charged.length} honest ones refused`,
      }
    } finally {
      await node.close()
    }
  },
}

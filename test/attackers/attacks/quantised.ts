import { type CacheType, type EngineProcess, openEngine } from '../../../rollout/engine/index.js'
import { runGroup } from '../../../rollout/episode/index.js'
import type { Arena } from '../arena.js'
import { GROUP_SIZE, LIMITS_OF_RUN } from '../arena-run.js'
import { type Attack, checkOf, type Place } from '../attack.js'
import { trueClaims } from '../group-cheats.js'
import { isZeroVariance, packGroup } from '../group-work.js'
import type { Participant } from '../participant.js'
import { type Quantisation, quantisedCopy } from '../quantised-models.js'

/** What a node computes with, where f16 is announced, and whether an engine of the announced type writes its claims. */
interface Cheat {
  readonly base: Quantisation | null
  readonly cacheType: CacheType
  readonly claims: 'own' | 'true'
}

/** Groups of a key that may be trained on before it is held back. */
const MOST_TRAINED = 3
/** Groups after which a key has escaped. Quantised weights with true claims are expected to (docs/explain/verification.md). */
const MOST = 12
const CODES: readonly (string | null)[] = ['logprob_mismatch', 'sampler_mismatch', 'implausible_end']

/** A key that delivers one quantised group after the other next to honest ones. The kinds take turns from try to try. */
function quantised(name: string, about: string, cheats: readonly Cheat[]): Attack {
  return {
    name,
    about,
    provable: false,
    places: ['5', '6', 'batches'],
    async attempt(arena, i, signal) {
      const cheat = cheats[i % cheats.length]!
      const { base, cacheType, claims } = cheat
      const { model, machine } = arena.run
      const engine = await openEngine({
        modelPath: base === null ? model : await quantisedCopy(model, machine.folder, base),
        ...{ threads: 1, contextSize: LIMITS_OF_RUN.maxRolloutTokens, slots: GROUP_SIZE, gpu: false, cacheType },
      })
      const node = await arena.recruit()
      try {
        return await deliverUntilStopped(arena, node, { engine, claims }, signal)
      } finally {
        await node.close()
        await engine.close()
      }
    },
  }
}

async function deliverUntilStopped(
  arena: Arena,
  node: Participant,
  { engine, claims }: { readonly engine: EngineProcess; readonly claims: Cheat['claims'] },
  signal: AbortSignal,
) {
  const before = arena.cpuMs()
  const delivered: string[] = []
  const refusals: string[] = []
  const reputation = () => arena.state().nodes.get(node.peerId)?.reputation
  const isStopped = (): boolean => reputation()?.isHeldBack === true || reputation()?.isQuarantined(Date.now()) === true
  while (delivered.length < MOST && !isStopped()) {
    const [work] = await arena.work(node, 1, signal)
    await engine.usePolicy(work!.policy.adapter, signal)
    const { task, seed, lease, policy } = work!
    let rollouts = await runGroup(task, GROUP_SIZE, seed, engine, arena.runtime, LIMITS_OF_RUN, signal)
    if (claims === 'true') {
      const announced = await arena.engine(policy, signal)
      const claimed: typeof rollouts = []
      for (const rollout of rollouts)
        claimed.push({ ...rollout, logprobs: await trueClaims(announced, rollout, signal) })
      rollouts = claimed
    }
    const { code } = await arena.handOver(work!, await packGroup(work!, rollouts))
    node.holding.delete(lease.leaseId)
    delivered.push(lease.leaseId)
    if (code !== null) refusals.push(code)
    if (code !== null || isZeroVariance(rollouts)) continue
    // Half of a batch may be from one key: the other half makes the run train.
    await arena.honest.deliver(await arena.honest.group(signal))
  }
  const state = arena.state()
  const inBatches = new Set([...state.batches.values()].flatMap(({ leaseIds }) => leaseIds))
  const trained = delivered.filter((leaseId) => inBatches.has(leaseId) && state.accepted.has(leaseId)).length
  const stopped = isStopped()
  const code = refusals.at(-1) ?? null
  const place: Place | null = !stopped ? null : code === null ? 'batches' : checkOf(code)
  const what = reputation()?.isQuarantined(Date.now()) ? 'quarantined' : stopped ? 'held back' : 'not stopped'
  return {
    caught: stopped && trained <= MOST_TRAINED && refusals.every((one) => CODES.includes(one)),
    ...{ place, code, costMs: arena.cpuMs() - before },
    detail: `${what} after ${delivered.length} groups with ${claims} claims, ${refusals.length} refused, ${trained} trained on`,
  }
}

const base = (type: Quantisation, claims: Cheat['claims']): Cheat => ({ base: type, cacheType: 'f16', claims })
const cache = (claims: Cheat['claims']): Cheat => ({ base: null, cacheType: 'q8_0', claims })

export const quantisedBase = quantised(
  'quantised-base',
  'samples from a base with fewer bits than announced, with false or true claims',
  [base('q8_0', 'own'), base('q4_k_m', 'own'), base('q8_0', 'true'), base('q4_k_m', 'true')],
)

export const quantisedCache = quantised(
  'quantised-cache',
  'samples with 8-bit caches instead of f16, with false or true claims',
  [cache('own'), cache('true')],
)

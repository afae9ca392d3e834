import { createCleanUp } from '../../common/cleanup/index.js'
import { openToolChat, type ToolChatModel } from '../../rollout/chat/index.js'
import { type CacheType, calibratedName, type EngineProcess, openEngine } from '../../rollout/engine/index.js'
import {
  type Attempt,
  type EpisodeRuntime,
  type EpisodeSettings,
  enginePlayer,
  type PlayedTogether,
  playAll,
} from '../../rollout/episode/index.js'
import { createTaskRuntime } from '../../servers/episodes/episode-runtime.js'
import type { Environment } from '../../servers/kernel/index.js'
import { endpointPlayer } from './endpoint-player.js'
import type { LocalSpec, PolicySpec } from './policy-specs.js'
import type { ResultsJournal } from './results-journal.js'

/** Wait for slots that are busy with calls. Environments answer in this process, so a slot is never busy for long; a skipped slot would change the results. */
const SLOT_WAIT_MS = 60_000

/** The same with a user simulator: for a model file, 32 slots with two requests of 30 s each, one after another, take half an hour. */
const SIMULATED_SLOT_WAIT_MS = 60 * 60_000

/** Settings of the machine's work. They do not change results, except `slots`. */
export interface PlayingOptions {
  readonly slots: number
  readonly threads: number
  readonly workers: number
  readonly cacheType: CacheType
  /** Most tokens of a server's reply. */
  readonly urlMaxTokens: number
  /** Requests to a server at the same time. */
  readonly urlRequests: number
}

export interface PlayingParts {
  readonly specs: readonly PolicySpec[]
  readonly attempts: readonly Attempt[]
  /** Runtimes by the path of the model file. */
  readonly runtimes: ReadonlyMap<string, EpisodeRuntime>
  readonly environments: readonly Environment[]
  readonly settings: EpisodeSettings
  readonly options: PlayingOptions
  readonly journal: ResultsJournal
  readonly onProgress: (done: number, wanted: number) => void
}

/**
 * Plays all rollouts of all policies that the journal lacks. One model file after the other is in memory, in each of the engines.
 * @throws EngineError, EvaluationError, JournalError, ChatError; the signal's reason
 */
export async function playPolicies(parts: PlayingParts, signal: AbortSignal): Promise<void> {
  const { specs, attempts, journal, onProgress } = parts
  const wanted = specs.length * attempts.length
  const countOf = (results: readonly PlayedTogether[]): number =>
    results.reduce((sum, { played }) => sum + played.length, 0)
  let done = countOf(journal.results)
  onProgress(done, wanted)
  const record = {
    earlier: [...journal.results],
    async add(result: PlayedTogether) {
      await journal.add(result)
      done += result.played.length
      onProgress(done, wanted)
    },
  }
  const isOpen = (policy: number): boolean =>
    countOf(record.earlier.filter((result) => result.policy === policy)) < attempts.length
  const open = [...specs.keys()].filter(isOpen)
  for (const modelPath of new Set(open.flatMap((policy) => modelOf(specs[policy]!) ?? []))) {
    const policies = open.filter((policy) => modelOf(specs[policy]!) === modelPath)
    await playLocally(modelPath, policies, parts, record, signal)
  }
  const remote = open.filter((policy) => specs[policy]!.kind === 'endpoint')
  if (remote.length > 0) await playRemotely(remote, parts, record, signal)
}

const modelOf = (spec: PolicySpec): string | undefined => (spec.kind === 'endpoint' ? undefined : spec.modelPath)

type Recorder = NonNullable<Parameters<typeof playAll>[4]>

async function playLocally(
  modelPath: string,
  policies: readonly number[],
  { specs, attempts, runtimes, settings, options, journal }: PlayingParts,
  record: Recorder,
  signal: AbortSignal,
): Promise<void> {
  const { slots, threads, workers, cacheType } = options
  const engines: EngineProcess[] = []
  const opened = createCleanUp()
  opened.add(() => Promise.all(engines.map((engine) => engine.close())))
  const contextSize = settings.limits.maxRolloutTokens
  try {
    for (let i = 0; i < workers; i++) {
      signal.throwIfAborted()
      engines.push(
        await openEngine(
          { modelPath, threads, contextSize, slots, gpu: 'auto', cacheType },
          { slotWaitMs: settings.userSimulator ? SIMULATED_SLOT_WAIT_MS : SLOT_WAIT_MS },
        ),
      )
    }
    const backend = [...new Set(engines.map(({ build }) => calibratedName(build)))].join(' and ')
    for (const policy of policies) await journal.setBackend(policy, backend)
    const adapterOf = (policy: number) => {
      const spec = specs[policy] as LocalSpec
      return spec.kind === 'adapter' ? spec.adapter : null
    }
    const players = engines.map((engine) => enginePlayer(engine, adapterOf, runtimes.get(modelPath)!, settings))
    await playAll(attempts, { policies, together: slots }, players, signal, record)
  } finally {
    await opened.close()
  }
}

async function playRemotely(
  policies: readonly number[],
  { specs, attempts, environments, settings, options }: PlayingParts,
  record: Recorder,
  signal: AbortSignal,
): Promise<void> {
  const models = new Map<number, ToolChatModel>()
  for (const policy of policies) {
    const { server, model } = specs[policy] as Extract<PolicySpec, { kind: 'endpoint' }>
    models.set(policy, await openToolChat({ ...server, model }, signal))
  }
  const runtime = createTaskRuntime(new Map(environments.map((environment) => [environment.name, environment])))
  const endpoint = { ...settings, maxTokens: options.urlMaxTokens }
  const player = endpointPlayer((policy) => models.get(policy)!, runtime, endpoint)
  // One rollout per part, because the server decides which requests it computes together.
  const players = Array.from({ length: options.urlRequests }, () => player)
  await playAll(attempts, { policies, together: 1 }, players, signal, record)
}

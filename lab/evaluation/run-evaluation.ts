import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createCleanUp } from '../../common/cleanup/index.js'
import { openTokenizer } from '../../rollout/engine/index.js'
import {
  attemptsOf,
  createEpisodeRuntime,
  DEFAULT_RULES,
  type EpisodeLimits,
  type EpisodeRuntime,
  type Played,
  rulesNamed,
  type UnderstoodMessage,
} from '../../rollout/episode/index.js'
import { userSimulatorFor, userSimulatorSummary } from '../../servers/episodes/user-simulator/options.js'
import type { Split } from '../../tasks/dataset/index.js'
import { cacheTypeFor, fittingTasks, limitsOf } from '../fitting-tasks.js'
import { createProgress } from '../progress.js'
import { type ChosenTask, chooseTasks } from './choose-tasks.js'
import { EvaluationError } from './errors.js'
import type { EvaluationOptions } from './evaluation-options.js'
import { playPolicies } from './play-policies.js'
import { identityOf, type PolicySpec, policiesOf } from './policy-specs.js'
import { openResultsJournal, tasksHash } from './results-journal.js'
import { type PolicyFacts, type Summary, summarise, type UnderstoodCounts } from './summary.js'

/** The file with the results so far, in the folder of `--out`. */
const RESULTS_FILE = 'results.jsonl'

/**
 * Evaluates policies on tasks of a data set. With a folder in `out`, the results so far are stored there, and the same options resume.
 * @throws EvaluationError, ConfigError, JournalError, EngineError, ChatError, NothingFits; the signal's reason
 */
export async function runEvaluation(options: EvaluationOptions, signal: AbortSignal): Promise<Summary> {
  const { greedy, samples, temperature, seed, toolCallFormat, out } = options
  if (!greedy && samples === 0)
    throw new EvaluationError('bad_policies', 'nothing to sample: remove --no-greedy, or give --samples 1 or more')
  const sampling = { greedy, samples, temperature, seed }
  const split = options.split as Split
  const chosen = await chooseTasks(
    resolve(options.dataset),
    { split, environments: options.chosenEnvironments, limit: options.tasks },
    signal,
  )
  const specs = await policiesOf(options, signal)
  const limits = limitsOf(options)
  const opened = createCleanUp()
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  try {
    const runtimes = new Map<string, EpisodeRuntime>()
    for (const path of new Set(specs.flatMap((spec) => (spec.kind === 'endpoint' ? [] : [spec.modelPath])))) {
      const tokenizer = await openTokenizer(path)
      opened.add(() => tokenizer.close())
      const rules = rulesNamed({ ...DEFAULT_RULES, toolCallFormat })
      runtimes.set(path, createEpisodeRuntime(chosen.environments, tokenizer, rules))
    }
    const simulator = await userSimulatorFor(options, say, signal)
    if (simulator) opened.add(() => simulator.close())
    const { tasks, tooLong } = fitting(chosen.tasks, [...runtimes.values()], limits)
    const samplings = [
      ...(greedy ? [{ temperature: 0, samples: 1 }] : []),
      ...(samples > 0 ? [{ temperature, samples }] : []),
    ]
    const bare = tasks.map(({ task }) => task)
    const { slots, urlMaxTokens } = options
    const cacheType = cacheTypeFor(options)
    if (out !== undefined) await mkdir(out, { recursive: true })
    const journal = await openResultsJournal(out === undefined ? undefined : join(out, RESULTS_FILE), {
      ...{ policies: specs.map(identityOf), tasks: tasksHash(bare), samplings, seed, limits },
      ...{ toolCallFormat, cacheType, slots, urlMaxTokens, ...(simulator ? { user: simulator.name } : {}) },
    })
    const settings = { limits, ...(simulator ? { userSimulator: simulator } : {}) }
    await playPolicies(
      {
        ...{ specs, runtimes, settings, journal, environments: chosen.environments },
        attempts: attemptsOf(bare, samplings, seed, limits),
        options: { ...options, cacheType },
        onProgress: createProgress('rollouts'),
      },
      signal,
    )
    await journal.finish()
    if (simulator) say(userSimulatorSummary(simulator, options.userSimulatorPrice))
    const played = specs.map((_, policy) => rolloutsOf(policy, journal.results))
    return summarise(
      tasks,
      specs.map((spec, i) => ({ facts: factsOf(spec, journal.backendOf(i)), played: played[i]! })),
      {
        ...{ dataset: chosen.dataset, tooLong, sampling, toolCallFormat, limits },
        ...(simulator ? { understood: understoodIn(simulator.name, played.flat()) } : {}),
      },
    )
  } finally {
    await opened.close()
  }
}

/** Returns the tasks whose first prompts fit the limits under every model. @throws NothingFits */
function fitting(tasks: readonly ChosenTask[], runtimes: readonly EpisodeRuntime[], limits: EpisodeLimits) {
  let fit = tasks
  for (const runtime of runtimes) {
    const { tasks: found } = fittingTasks(
      fit.map(({ task }) => task),
      runtime,
      limits,
    )
    const kept = new Set(found)
    fit = fit.filter(({ task }) => kept.has(task))
  }
  return { tasks: fit, tooLong: tasks.length - fit.length }
}

function rolloutsOf(policy: number, results: Awaited<ReturnType<typeof openResultsJournal>>['results']): Played[] {
  const played: Played[] = []
  for (const result of results)
    if (result.policy === policy) for (const [i, one] of result.played.entries()) played[result.from + i] = one
  return played
}

function factsOf(spec: PolicySpec, backend: string | undefined): PolicyFacts {
  const { kind, label } = spec
  if (kind === 'endpoint') return { label, kind, model: spec.model }
  return {
    ...{ label, kind, sha256: spec.sha256 },
    ...(kind === 'adapter' ? { baseSha256: spec.baseSha256 } : {}),
    ...(backend === undefined ? {} : { backend }),
  }
}

function understoodIn(by: string, played: readonly Played[]): UnderstoodCounts {
  const understood = played.flatMap((one) => one.understood ?? [])
  const count = (fits: (one: UnderstoodMessage) => boolean): number => understood.filter(fits).length
  return {
    by,
    messages: understood.length,
    asked: count(({ asked }) => asked),
    byRules: count(({ problems }) => problems !== undefined),
  }
}

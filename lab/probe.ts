import { offeredAt, toolsetOf } from '../rollout/episode/index.js'
import { PAPER, REWARD_PRESETS } from '../rollout/reward/index.js'
import { openEpisode, type TaskRuntime } from '../servers/episodes/index.js'
import { areaUnderCurve, type Example, orderedPairs } from '../tasks/dataset/index.js'
import { DOMAIN_RULE_PROBES, FALSE_PASS_PROBES, PROBES, type Probe } from './probes.js'

/** Rewards of one probe over a data set. */
export interface ProbeResult {
  readonly name: string
  readonly kind: Probe['kind']
  /** Number of tasks to which the probe applies. */
  readonly tasks: number
  /** Mean share of the maximum reward, by preset. */
  readonly earned: Readonly<Record<string, number>>
  /** Largest share of the maximum reward that a task paid, by preset. */
  readonly largest: Readonly<Record<string, number>>
  /** Share of the tasks with the maximum reward, by preset. */
  readonly full: Readonly<Record<string, number>>
  /** Share of the tasks that are solved exactly. */
  readonly solved: number
}

/** How well a preset ranks right probes above wrong ones: the share of ordered pairs, ties as halves. */
export interface Ranking {
  /** Over pairs of any two tasks. */
  readonly over: number
  /** Over pairs of the same task, as training compares the rollouts of a group. */
  readonly within: number
}

export interface Probed {
  readonly tasks: number
  readonly results: readonly ProbeResult[]
  /** Rankings by preset, over the tasks with calls. Only probes of the kinds `right` and `wrong` are in them. */
  readonly rankings: Readonly<Record<string, Ranking>>
}

interface Played {
  readonly probe: Probe
  readonly hasCalls: boolean
  readonly shares: ReadonlyMap<string, number>
  readonly solved: boolean
}

/**
 * Plays every probe on every example, in fresh sessions of the environments, and scores it by every preset.
 * @throws EpisodeError for a task that cannot be played; the signal's reason
 */
export async function probe(
  examples: AsyncIterable<Example> | Iterable<Example>,
  runtime: TaskRuntime,
  signal: AbortSignal,
): Promise<Probed> {
  const played: Played[][] = []
  for await (const example of examples) {
    signal.throwIfAborted()
    const probes: (Played & { readonly outcome: string })[] = []
    for (const one of [...PROBES, ...FALSE_PASS_PROBES, ...DOMAIN_RULE_PROBES]) {
      const result = await playProbe(one, example, runtime)
      if (result) probes.push(result)
    }
    // A changed value with the same results and final states is not wrong.
    const right = probes[0]!.outcome
    played.push(probes.filter(({ probe: { name }, outcome }) => name !== OTHER_VALUE || outcome !== right))
  }
  return {
    tasks: played.length,
    results: [
      ...[...PROBES, ...FALSE_PASS_PROBES].map((one) => resultOf(one, played.flat())),
      ...DOMAIN_RULE_PROBES.map((one) => resultOf(one, played.flat())).filter(({ tasks }) => tasks > 0),
    ],
    rankings: rankingsOf(played),
  }
}

const OTHER_VALUE = 'another value in the last call'

async function playProbe(
  one: Probe,
  example: Example,
  runtime: TaskRuntime,
): Promise<(Played & { readonly outcome: string }) | null> {
  const { task } = example
  const offered = offeredAt(toolsetOf(task, runtime.catalogue), 0)
  const messages = one.play(
    example,
    offered.map(({ name }) => name),
  )
  if (!messages) return null
  const episode = await openEpisode(task, { runtime, reward: PAPER })
  const results: unknown[] = []
  // The call limit can end the episode before the last message.
  for (const message of messages) if (!episode.isOver) results.push(await episode.act(message))
  const hasCalls = task.groundTruth.length > 0
  const shares = new Map(
    [...REWARD_PRESETS.values()].map((preset) => {
      const most = hasCalls ? preset.maximum.calls : preset.maximum.noCall
      return [preset.name, episode.score(preset).total / most]
    }),
  )
  const { solved, stateHashes } = episode.score()
  return { probe: one, hasCalls, shares, solved, outcome: JSON.stringify([results, stateHashes]) }
}

function resultOf(one: Probe, played: readonly Played[]): ProbeResult {
  const own = played.filter(({ probe: { name } }) => name === one.name)
  const mean = (value: (result: Played) => number): number =>
    own.length === 0 ? Number.NaN : own.reduce((sum, result) => sum + value(result), 0) / own.length
  const byPreset = (value: (name: string) => number): Record<string, number> =>
    Object.fromEntries([...REWARD_PRESETS.keys()].map((name) => [name, value(name)]))
  const share = (result: Played, name: string): number => result.shares.get(name)!
  return {
    name: one.name,
    kind: one.kind,
    tasks: own.length,
    earned: byPreset((name) => mean((result) => share(result, name))),
    largest: byPreset((name) =>
      own.length === 0 ? Number.NaN : Math.max(...own.map((result) => share(result, name))),
    ),
    full: byPreset((name) => mean((result) => Number(share(result, name) === 1))),
    solved: mean(({ solved }) => Number(solved)),
  }
}

/** @param played  probes by task */
function rankingsOf(played: readonly (readonly Played[])[]): Record<string, Ranking> {
  const groups = played.filter(([first]) => first!.hasCalls)
  const rankingOf = (preset: string): Ranking => {
    const of = (probes: readonly Played[], kind: Probe['kind']): number[] =>
      probes.flatMap((one) => (one.probe.kind === kind ? [one.shares.get(preset)!] : []))
    const pairs = groups.map((probes) => ({ right: of(probes, 'right'), wrong: of(probes, 'wrong') }))
    const ordered = pairs.reduce((sum, { right, wrong }) => sum + orderedPairs(right, wrong), 0)
    const all = pairs.reduce((sum, { right, wrong }) => sum + right.length * wrong.length, 0)
    return {
      over: areaUnderCurve(of(groups.flat(), 'right'), of(groups.flat(), 'wrong')),
      within: ordered / all,
    }
  }
  return Object.fromEntries([...REWARD_PRESETS.keys()].map((preset) => [preset, rankingOf(preset)]))
}

import { PAPER, REWARD_PRESETS } from '../rollout/reward/index.js'
import { openEpisode, type TaskRuntime } from '../servers/episodes/index.js'
import { areaUnderCurve, type Example } from '../tasks/dataset/index.js'
import { POLICY_PROBES, PROBES, type Probe } from './probes.js'

/** What one way of playing earns over a data set. */
export interface ProbeResult {
  readonly name: string
  readonly kind: Probe['kind']
  /** Tasks that have room for it. */
  readonly tasks: number
  /** Mean share of the maximum, by preset. */
  readonly earned: Readonly<Record<string, number>>
  /** Share of the tasks in which it earns the maximum, by preset. */
  readonly full: Readonly<Record<string, number>>
  /** Share of the tasks that count as solved exactly. */
  readonly solved: number
}

/** How well a preset ranks what is right before what is wrong: the share of the pairs that it does, half for equals. */
export interface Ranking {
  /** Pairs of any two tasks. */
  readonly over: number
  /** Pairs of the same task, as a group of rollouts is compared. */
  readonly within: number
}

export interface Probed {
  readonly tasks: number
  readonly results: readonly ProbeResult[]
  /** By preset, over the tasks with calls; what is only said otherwise is in no ranking. */
  readonly rankings: Readonly<Record<string, Ranking>>
}

interface Played {
  readonly probe: Probe
  readonly hasCalls: boolean
  readonly shares: ReadonlyMap<string, number>
  readonly solved: boolean
}

/**
 * Plays every example in every way and scores it by every preset: each call is made in fresh sessions of its worlds.
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
    const ways: (Played & { readonly outcome: string })[] = []
    for (const one of [...PROBES, ...POLICY_PROBES]) {
      const way = await playProbe(one, example, runtime)
      if (way) ways.push(way)
    }
    // A wrong value that leads to the very same worlds and answers was not wrong.
    const right = ways[0]!.outcome
    played.push(ways.filter(({ probe: { name }, outcome }) => name !== OTHER_VALUE || outcome !== right))
  }
  return {
    tasks: played.length,
    results: [
      ...PROBES.map((one) => resultOf(one, played.flat())),
      ...POLICY_PROBES.map((one) => resultOf(one, played.flat())).filter(({ tasks }) => tasks > 0),
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
  const actions = one.play(example)
  if (!actions) return null
  const episode = await openEpisode(task, { runtime, reward: PAPER })
  const results: unknown[] = []
  // The most calls may be made before all is said.
  for (const action of actions) if (!episode.isOver) results.push(await episode.act(action))
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
  const mean = (value: (way: Played) => number): number =>
    own.length === 0 ? Number.NaN : own.reduce((sum, way) => sum + value(way), 0) / own.length
  const byPreset = (value: (share: number) => number): Record<string, number> =>
    Object.fromEntries([...REWARD_PRESETS.keys()].map((name) => [name, mean(({ shares }) => value(shares.get(name)!))]))
  return {
    name: one.name,
    kind: one.kind,
    tasks: own.length,
    earned: byPreset((share) => share),
    full: byPreset((share) => Number(share === 1)),
    solved: mean(({ solved }) => Number(solved)),
  }
}

/** @param played  by task */
function rankingsOf(played: readonly (readonly Played[])[]): Record<string, Ranking> {
  const groups = played.filter(([first]) => first!.hasCalls)
  return Object.fromEntries(
    [...REWARD_PRESETS.keys()].map((preset) => {
      const of = (ways: readonly Played[], kind: Probe['kind']): number[] =>
        ways.flatMap((way) => (way.probe.kind === kind ? [way.shares.get(preset)!] : []))
      const within = groups.flatMap((ways) =>
        of(ways, 'right').flatMap((right) => of(ways, 'wrong').map((wrong) => [right, wrong] as const)),
      )
      return [
        preset,
        { over: areaUnderCurve(of(groups.flat(), 'right'), of(groups.flat(), 'wrong')), within: shareInOrder(within) },
      ]
    }),
  )
}

const shareInOrder = (pairs: readonly (readonly [right: number, wrong: number])[]): number =>
  pairs.reduce((sum, [right, wrong]) => sum + (right > wrong ? 1 : right === wrong ? 0.5 : 0), 0) / pairs.length

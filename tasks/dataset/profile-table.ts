import { markdownTable, percent } from './markdown.js'
import type { Profile } from './profile.js'
import { ofKind, type Statistics, sumOf, type Tally } from './statistics.js'

const LENGTHS = [2, 3, 4, 5] as const

/** What the profile asks for beside what came out. Shares differ where filters take some kinds more often than others. */
export function profileTable(profile: Profile, statistics: Statistics): string {
  const multiTurn = ofKind(statistics, 'multi-turn')
  const { userTurns, chainLengths, chainEnvironments, information, recovery, distractors, ownTools } = statistics
  const atLeast = (tally: Tally<number>, least: number): number =>
    [...tally].reduce((sum, [value, n]) => sum + (value >= least ? n : 0), 0)
  const weights = sumOf(new Map(profile.lengths.map((weight, i) => [i, weight])))
  const row = (knob: string, target: number, actual: number, of: number): string[] => [
    knob,
    percent(target),
    of === 0 ? '-' : percent(actual / of),
  ]
  const severalTurns = atLeast(userTurns, 2)
  return markdownTable(
    ['knob', 'asked for', 'came out'],
    [
      ...LENGTHS.map((length, i) =>
        row(`chain of ${length} tools`, profile.lengths[i]! / weights, chainLengths.get(length) ?? 0, multiTurn),
      ),
      row('chain through another world', profile.crossEnvironment, atLeast(chainEnvironments, 2), multiTurn),
      row('a second user turn', profile.nextTurn[0], severalTurns, multiTurn),
      row('after a second, a third', profile.nextTurn[1], atLeast(userTurns, 3), severalTurns),
      row(
        'a required value is missing at first',
        profile.information.missing,
        information.get('missing') ?? 0,
        multiTurn,
      ),
      row('hardly anything is said at first', profile.information.minimal, information.get('minimal') ?? 0, multiTurn),
      row('a call fails and the assistant recovers', profile.recovery, sumOf(recovery), multiTurn),
      ...[...recovery]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([how, n]) => [`of these, ${how}`, '', percent(n / sumOf(recovery))]),
      row('distractors of other worlds', profile.distractors.share, atLeast(distractors, 1), sumOf(distractors)),
      ['where there are distractors, how many', range(profile.distractors), spread(distractors, 1)],
      ["tools of the chain's own worlds", range(profile.ownTools), spread(ownTools, 0)],
      row('values of enums left out', profile.stripEnums, statistics.strippedEnums, statistics.examples),
      row(
        'clarification because a tool is hidden',
        profile.missingFunction,
        statistics.missingFunction,
        ofKind(statistics, 'clarification'),
      ),
    ],
  )
}

const range = ({ min, max }: { readonly min: number; readonly max: number }): string => `${min} to ${max}`

/** `3 to 8, 5.4 on average`, over the values of at least `least`. */
function spread(tally: Tally<number>, least: number): string {
  const counted = [...tally].filter(([value]) => value >= least)
  if (counted.length === 0) return '-'
  const values = counted.map(([value]) => value)
  const mean = counted.reduce((sum, [value, n]) => sum + value * n, 0) / counted.reduce((sum, [, n]) => sum + n, 0)
  return `${Math.min(...values)} to ${Math.max(...values)}, ${mean.toFixed(1)} on average`
}

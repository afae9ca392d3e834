import { markdownTable, percent } from './markdown.js'
import type { Profile } from './profile.js'
import { ofKind, type Statistics, sumOf, type Tally } from './statistics.js'

const LENGTHS = [2, 3, 4, 5] as const

/** Returns a table of the profile's targets and the actual shares. They differ because filters reject some kinds more often. */
export function profileTable(profile: Profile, statistics: Statistics): string {
  const multiTurn = ofKind(statistics, 'multi-turn')
  const { userTurns, chainLengths, chainEnvironments, information, recovery, distractors, ownTools } = statistics
  const atLeast = (tally: Tally<number>, least: number): number =>
    [...tally].reduce((sum, [value, n]) => sum + (value >= least ? n : 0), 0)
  const weights = sumOf(new Map(profile.lengths.map((weight, i) => [i, weight])))
  const row = (setting: string, target: number, actual: number, of: number): string[] => [
    setting,
    percent(target),
    of === 0 ? '-' : percent(actual / of),
  ]
  const severalTurns = atLeast(userTurns, 2)
  return markdownTable(
    ['setting', 'target', 'actual'],
    [
      ...LENGTHS.map((length, i) =>
        row(`chain of ${length} tools`, profile.lengths[i]! / weights, chainLengths.get(length) ?? 0, multiTurn),
      ),
      row('chain through another environment', profile.crossEnvironment, atLeast(chainEnvironments, 2), multiTurn),
      row('a second user turn', profile.nextTurn[0], severalTurns, multiTurn),
      row('after a second, a third', profile.nextTurn[1], atLeast(userTurns, 3), severalTurns),
      row(
        'a required value is missing at first',
        profile.information.missing,
        information.get('missing') ?? 0,
        multiTurn,
      ),
      row('almost nothing is stated at first', profile.information.minimal, information.get('minimal') ?? 0, multiTurn),
      row('a call fails and the assistant recovers', profile.recovery, sumOf(recovery), multiTurn),
      ...[...recovery]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([how, n]) => [`of these, ${how}`, '', percent(n / sumOf(recovery))]),
      row('distractors of other environments', profile.distractors.share, atLeast(distractors, 1), sumOf(distractors)),
      ['number of distractors, if any', range(profile.distractors), spread(distractors, 1)],
      ["tools of the chain's environments", range(profile.ownTools), spread(ownTools, 0)],
      row('enum values omitted', profile.stripEnums, statistics.strippedEnums, statistics.examples),
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

/** Returns `3 to 8, 5.4 on average` for the values of at least `least`. */
function spread(tally: Tally<number>, least: number): string {
  const counted = [...tally].filter(([value]) => value >= least)
  if (counted.length === 0) return '-'
  const values = counted.map(([value]) => value)
  const mean = counted.reduce((sum, [value, n]) => sum + value * n, 0) / counted.reduce((sum, [, n]) => sum + n, 0)
  return `${Math.min(...values)} to ${Math.max(...values)}, ${mean.toFixed(1)} on average`
}

import { percent } from './markdown.js'
import { type Profile, RECOVERY_SHARES } from './profile.js'
import { ofKind, type Statistics, sumOf, type Tally } from './statistics.js'

/** A share of the conversations that the profile asks for, and the share that a data set has. */
export interface Quota {
  readonly asked: number
  readonly got: number
  /** Number of conversations that the share is of. */
  readonly of: number
}

const LENGTHS = [2, 3, 4, 5] as const
/** Largest relative difference between a share and its quota that needs no explanation. */
const TOLERANCE = 0.1

/** Returns the quotas of a profile by name, with the shares of a data set. Quotas of empty groups are left out. */
export function quotasOf(profile: Profile, statistics: Statistics): Record<string, Quota> {
  const { userTurns, chainLengths, chainEnvironments, information, recovery, distractors } = statistics
  const multiTurn = ofKind(statistics, 'multi-turn')
  const clarification = ofKind(statistics, 'clarification')
  const weights = profile.lengths.reduce((sum, weight) => sum + weight, 0)
  const several = atLeast(userTurns, 2)
  const rows: [name: string, asked: number, count: number, of: number][] = [
    ...LENGTHS.map((length, i): [string, number, number, number] => [
      `chain of ${length} tools`,
      (profile.lengths[i] ?? 0) / weights,
      chainLengths.get(length) ?? 0,
      multiTurn,
    ]),
    ['chain through another environment', profile.crossEnvironment, atLeast(chainEnvironments, 2), multiTurn],
    ['a second user turn', profile.nextTurn[0], several, multiTurn],
    ['after a second, a third', profile.nextTurn[1], atLeast(userTurns, 3), several],
    ['a required value is missing at first', profile.information.missing, information.get('missing') ?? 0, multiTurn],
    ['almost nothing is stated at first', profile.information.minimal, information.get('minimal') ?? 0, multiTurn],
    ['a call fails and the assistant recovers', profile.recovery, sumOf(recovery), multiTurn],
    ...RECOVERY_SHARES.map(([how, share]): [string, number, number, number] => [
      `of these, ${how}`,
      share,
      recovery.get(how) ?? 0,
      profile.recovery > 0 ? sumOf(recovery) : 0,
    ]),
    ['distractors of other environments', profile.distractors.share, atLeast(distractors, 1), sumOf(distractors)],
    ['enum values omitted', profile.stripEnums, statistics.strippedEnums, statistics.examples],
    ['clarification because a tool is hidden', profile.missingFunction, statistics.missingFunction, clarification],
  ]
  return Object.fromEntries(
    rows.flatMap(([name, asked, count, of]) => (of === 0 ? [] : [[name, { asked, got: count / of, of }]])),
  )
}

export const atLeast = (tally: Tally<number>, least: number): number =>
  [...tally].reduce((sum, [value, n]) => sum + (value >= least ? n : 0), 0)

/**
 * Returns a sentence for each quota that is missed by more than a tenth, and by more than one example.
 * @param gaveUp  number of examples whose plan asked for more than any chain gave
 */
export const unmetQuotas = (quotas: Readonly<Record<string, Quota>>, gaveUp: number): string[] =>
  Object.entries(quotas).flatMap(([name, { asked, got, of }]) =>
    Math.abs(got - asked) <= Math.max(TOLERANCE * asked, 1 / of)
      ? []
      : [`${name}: ${percent(got)} for ${percent(asked)}. ${reasonFor(name, gaveUp, of)}`],
  )

function reasonFor(name: string, gaveUp: number, of: number): string {
  if (name === 'enum values omitted' || name.startsWith('distractors'))
    return `The program draws it for each example alone; the share is of ${of} examples.`
  return gaveUp > 0
    ? `${gaveUp} plans found no chain in which a call fails or that continues elsewhere as they ask, and were made without it.`
    : `Examples that could not be made are missing from it; the share is of ${of} examples.`
}

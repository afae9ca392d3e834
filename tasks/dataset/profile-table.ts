import { markdownTable, percent } from './markdown.js'
import type { Profile } from './profile.js'
import { quotasOf } from './quotas.js'
import type { Statistics, Tally } from './statistics.js'

/** Returns a table of the profile's targets and the actual shares. */
export function profileTable(profile: Profile, statistics: Statistics): string {
  const shares = Object.entries(quotasOf(profile, statistics))
  return markdownTable(
    ['setting', 'target', 'actual'],
    [
      ...shares.map(([name, { asked, got }]) => [name, percent(asked), percent(got)]),
      ['number of distractors, if any', range(profile.distractors), spread(statistics.distractors, 1)],
      ["tools of the chain's environments", range(profile.ownTools), spread(statistics.ownTools, 0)],
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

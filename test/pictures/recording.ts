/** The recorded output of a demo: docs/pictures/demo.txt. */

/** A version that the demo reported. */
export interface RecordedVersion {
  readonly version: number
  readonly accepted: number
  readonly refused: number
  /** Mean reward of the newest rollouts; null: none yet. */
  readonly reward: number | null
  /** Since the start of the volunteers. */
  readonly seconds: number
}

export interface Recording {
  readonly versions: readonly RecordedVersion[]
  /** The report at the end, line by line. */
  readonly report: readonly string[]
}

const VERSION =
  /^version +(\d+) published .*groups (\d+) accepted (\d+) refused .*reward +(\d\.\d+|–) .* (\d+) s(?: {2}│|$)/

export function readRecording(output: string): Recording {
  const versions = output.split('\n').flatMap((line) => {
    const found = VERSION.exec(line)
    if (!found) return []
    const [version, accepted, refused, , seconds] = found.slice(1).map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ]
    return [{ version, accepted, refused, reward: found[4] === '–' ? null : Number(found[4]), seconds }]
  })
  const begin = output.indexOf('\nHeld-out tasks before and after')
  if (versions.length < 2 || begin === -1)
    throw new Error('docs/pictures/demo.txt is not the output of a whole demo: npm run demo > docs/pictures/demo.txt')
  return { versions, report: output.slice(begin + 1).split('\n') }
}

import { REFUSALS, type RefusalCode, type RefusalConsequence } from '../../proto/index.js'
import { CHECKS, type VerificationCheck } from '../../rollout/verification/index.js'
import { box, INK, lines, picture, softOf, type Tone, text, wrapped } from './svg.js'

const COST: Readonly<Record<VerificationCheck['cost'], { readonly text: string; readonly tone: Tone }>> = {
  'look-up': { text: 'look-up: microseconds', tone: 'green' },
  reading: { text: 'reading: milliseconds', tone: 'green' },
  replay: { text: 'replay of all calls', tone: 'amber' },
  'forward pass': { text: 'forward pass of the policy', tone: 'red' },
}
const ORDER: readonly RefusalConsequence[] = ['none', 'audits', 'quarantine', 'exclusion']
const CONSEQUENCE: Readonly<Record<RefusalConsequence, string>> = {
  none: 'the group is dropped',
  audits: 'closer audits; quarantine if it adds up',
  quarantine: 'quarantine: an hour, a day, for good',
  exclusion: 'a provable lie: no more leases for the key',
}

/** The severest consequence of the codes that belong to a check, and whether most codes have none. */
function consequenceOf(codes: readonly RefusalCode[]): string {
  const found = codes.map((code) => REFUSALS[code].consequence)
  const worst = ORDER.findLast((consequence) => found.includes(consequence)) ?? 'none'
  const mild = found.filter((consequence) => consequence === 'none').length > found.length / 2
  return mild && worst === 'exclusion' ? 'the group is dropped; a forgery excludes the key' : CONSEQUENCE[worst]
}

const ROW = 66

/** The verification checks, cheapest first, with their cost and the consequence of a failure. */
export function checksPicture(): string {
  const rows = CHECKS.map(({ number, name, check, refusals, cost, forwardPass }, i) => {
    const y = 88 + i * ROW
    const inset = i * 9
    const { text: costText, tone } = COST[cost]
    const width = 430 - 2 * inset
    return [
      box([24 + inset, y, width, ROW - 8], softOf(tone), INK[tone]),
      text(38 + inset, y + 20, `${number}  ${name}`, { size: 13.5, weight: 600, fill: INK[tone] }),
      lines(
        38 + inset,
        y + 36,
        wrapped(check, Math.floor(width / 5.9))
          .slice(0, 2)
          .map(ended(check, width)),
        { size: 10.5 },
      ),
      text(474, y + 22, costText, { size: 12.5 }),
      text(474, y + 40, forwardPass ? 'audited groups' : 'every group', { size: 11.5, fill: INK.soft }),
      lines(668, y + 22, wrapped(consequenceOf(refusals), 34), { size: 12 }),
    ].join('\n')
  })
  return picture(
    [920, 88 + CHECKS.length * ROW + 44],
    {
      title: 'Verification checks',
      description: CHECKS.map(
        ({ number, name, cost, refusals }) => `${number} ${name}: ${cost}; ${consequenceOf(refusals)}`,
      ).join('. '),
    },
    [
      text(24, 38, 'A group passes these checks, cheapest first', { size: 16, weight: 700 }),
      text(24, 70, 'check', { size: 12, weight: 600, fill: INK.soft }),
      text(474, 70, 'cost and coverage', { size: 12, weight: 600, fill: INK.soft }),
      text(668, 70, 'when it fails', { size: 12, weight: 600, fill: INK.soft }),
      ...rows,
      text(
        24,
        88 + CHECKS.length * ROW + 24,
        'Audited: all groups of a new key, and a falling share later. The trainer’s forward pass looks at the others before they train.',
        { size: 12, fill: INK.soft },
      ),
    ],
  )
}

/** Marks the second line if the text goes on. */
const ended =
  (check: string, width: number) =>
  (line: string, i: number): string =>
    i === 1 && wrapped(check, Math.floor(width / 5.9)).length > 2 ? `${line} …` : line

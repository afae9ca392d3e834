import { arrow, box, INK, lines, picture, softOf, type Tone, text } from './svg.js'

interface Party {
  readonly tone: Tone
  readonly title: string
  readonly has: readonly string[]
  readonly x: number
}

const PARTIES: readonly Party[] = [
  {
    ...{ tone: 'green', x: 24, title: 'Volunteer' },
    has: [
      'Receives tasks, adapters and one',
      'base model, never code.',
      '',
      'Inference has no network and no',
      'files of the user (Linux).',
    ],
  },
  {
    ...{ tone: 'blue', x: 362, title: 'Operator' },
    has: [
      'Believes no volunteer: a group',
      'counts after replay and audit.',
      '',
      'Has the run’s key, which signs',
      'manifests and verdicts.',
    ],
  },
  {
    ...{ tone: 'purple', x: 700, title: 'Reader of a model' },
    has: ['Knows the run’s key.', '', 'Can make published training', 'steps again from their', 'evidence.'],
  },
]
const BOX = 236

interface Crossing {
  readonly from: number
  readonly to: number
  readonly y: number
  readonly at: number
  readonly what: string
  readonly checked: string
}

const CROSSINGS: readonly Crossing[] = [
  {
    from: 260,
    to: 360,
    y: 104,
    at: 24,
    what: '→  signed groups',
    checked: 'signature, lease, bounds, replay, rewards, audits',
  },
  {
    from: 362,
    to: 262,
    y: 168,
    at: 24,
    what: '←  adapters, tasks, verdicts',
    checked: 'signatures, hashes, tensors and limits, before use',
  },
  {
    from: 598,
    to: 698,
    y: 136,
    at: 560,
    what: '→  model and manifest',
    checked: 'signatures, hashes, canary, provenance',
  },
]

/** Who trusts whom, and what is checked where something crosses a boundary. */
export function trustPicture(): string {
  return picture(
    [960, 340],
    {
      title: 'Trust boundaries',
      description: [
        ...PARTIES.map(({ title, has }) => `${title}: ${has.filter(Boolean).join(' ')}`),
        ...CROSSINGS.map(({ what, checked }) => `${what.slice(3)}: checked are ${checked}.`),
      ].join(' '),
    },
    [
      text(24, 38, 'Each party checks what crosses its boundary', { size: 16, weight: 700 }),
      ...PARTIES.flatMap(({ tone, title, has, x }) => [
        box([x, 58, BOX, 152], softOf(tone), INK[tone], true),
        text(x + 14, 82, title, { size: 15, weight: 700, fill: INK[tone] }),
        lines(x + 14, 106, has, { size: 12 }),
      ]),
      ...CROSSINGS.map(({ from, to, y }) =>
        arrow([
          [from, y],
          [to, y],
        ]),
      ),
      ...CROSSINGS.flatMap(({ at, what, checked }, i) => [
        text(at, 244 + (i % 2) * 40, what, { size: 12.5, weight: 600 }),
        text(at, 260 + (i % 2) * 40, checked, { size: 12, fill: INK.soft }),
      ]),
      text(
        24,
        328,
        'Every message is bounded and parsed before use. The run’s key names the run; nodes trust no other key.',
        {
          ...{ size: 12, fill: INK.soft },
        },
      ),
    ],
  )
}

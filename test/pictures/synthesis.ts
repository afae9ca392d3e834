import { DROP_REASONS } from '../../tasks/dataset/example.js'
import { arrow, box, INK, lines, picture, softOf, type Tone, text } from './svg.js'

interface Stage {
  readonly tone: Tone
  readonly title: string
  readonly body: readonly string[]
}

/** The filters that need a second look at a whole candidate, in their order. */
const FILTERS = [
  'every reference is resolved',
  'every argument can be read',
  'the calls replay without error',
  'they earn the most',
  'none can be left out',
]

/** How environments become tasks. @param counts  of environments and tools */
export function synthesisPicture({ environments, tools }: { environments: number; tools: number }): string {
  const stages: readonly Stage[] = [
    {
      tone: 'blue',
      title: 'Environments',
      body: [`${environments} with ${tools} tools`, 'typed fields give', 'the tool graph'],
    },
    { tone: 'green', title: 'Chain', body: ['2 to 5 tools that', 'depend on each', 'other'] },
    { tone: 'green', title: 'Live state', body: ['executed in a new', 'session: real keys,', 'real results'] },
    { tone: 'green', title: 'Script', body: ['2 or 3 user turns;', 'withheld values,', 'failing calls'] },
    { tone: 'green', title: 'Words', body: ['a persona asks;', 'templates or a', 'language model'] },
    { tone: 'amber', title: 'Filters', body: FILTERS },
  ]
  let x = 20
  const parts = stages.flatMap(({ tone, title, body }, i) => {
    const width = title === 'Filters' ? 212 : 134
    const drawn = [
      box([x, 64, width, 132], softOf(tone), INK[tone]),
      text(x + 12, 86, title, { size: 14, weight: 700, fill: INK[tone] }),
      lines(x + 12, 108, body, { size: 12 }),
      ...(i === 0
        ? []
        : [
            arrow([
              [x - 18, 124],
              [x - 2, 124],
            ]),
          ]),
    ]
    x += width + 20
    return drawn
  })
  return picture(
    [1024, 282],
    {
      title: 'The synthesis pipeline',
      description: stages.map(({ title, body }) => `${title}: ${body.join(' ')}`).join('. '),
    },
    [
      text(20, 38, 'From environments to a task with a known solution', { size: 16, weight: 700 }),
      ...parts,
      arrow([
        [896, 196],
        [896, 216],
        [241, 216],
        [241, 198],
      ]),
      text(569, 233, `dropped for one of ${DROP_REASONS.length} reasons: another state, chain and words`, {
        size: 12,
        anchor: 'middle',
        fill: INK.soft,
      }),
      text(
        20,
        250,
        'A task keeps its environments’ seeds, the conversation, the reference calls and the origin of every argument.',
        {
          ...{ size: 12, fill: INK.soft },
        },
      ),
    ],
  )
}

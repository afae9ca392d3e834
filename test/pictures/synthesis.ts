import { OBJECTIONS } from '../../tasks/synthesis/making/objections.js'
import { arrow, box, INK, lines, picture, softOf, type Tone, text } from './svg.js'

interface Stage {
  readonly tone: Tone
  readonly title: string
  readonly body: readonly string[]
}

/** What some objections protect, in words for readers. */
const PROTECTED = [
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
      body: [`${environments} with ${tools} tools:`, 'typed fields give', 'the tool graph'],
    },
    { tone: 'purple', title: 'Plan', body: ['quotas: kind, calls,', 'information,', 'failures'] },
    { tone: 'green', title: 'Chain', body: ['1 to 5 tools that', 'depend on each', 'other'] },
    { tone: 'green', title: 'Live state', body: ['executed in a new', 'session: real keys,', 'real results'] },
    {
      tone: 'green',
      title: 'Words',
      body: ['a persona asks in', '2 or 3 turns, by', 'templates or a', 'language model'],
    },
    { tone: 'amber', title: `${OBJECTIONS.length} objections`, body: PROTECTED },
  ]
  let x = 20
  const parts = stages.flatMap(({ tone, title, body }, i) => {
    const width = tone === 'amber' ? 212 : 134
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
        [395, 216],
        [395, 198],
      ]),
      text(645, 233, 'dropped: another tool, chain or state', {
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

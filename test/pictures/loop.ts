import { arrow, box, INK, lines, picture, softOf, type Tone, text } from './svg.js'

const LEFT = 24
const RIGHT = 470
const WIDTH = 366

interface Step {
  readonly tone: Tone
  readonly title: string
  readonly body: readonly string[]
  readonly x: number
  readonly y: number
}

const STEPS: readonly Step[] = [
  {
    ...{ tone: 'blue', x: LEFT, y: 62, title: '1  Announce version n' },
    body: ['a signed manifest, by gossip'],
  },
  {
    ...{ tone: 'green', x: RIGHT, y: 62, title: '2  Fetch and check the adapter' },
    body: ['in chunks, also from other volunteers'],
  },
  {
    ...{ tone: 'blue', x: LEFT, y: 142, title: '3  Lease' },
    body: ['a task and a seed that nobody can choose'],
  },
  {
    ...{ tone: 'green', x: RIGHT, y: 142, title: '4  Generate a group of rollouts' },
    body: ['llama.cpp against live environments over MCP'],
  },
  {
    ...{ tone: 'blue', x: LEFT, y: 222, title: '5  Verify the group' },
    body: ['replay every call, recompute every reward,', 'audit log-probabilities and samples'],
  },
  {
    ...{ tone: 'green', x: RIGHT, y: 222, title: '6  Receive the verdict' },
    body: ['with its reason, and credit for accepted work'],
  },
  {
    ...{ tone: 'purple', x: LEFT, y: 318, title: '7  Train: one GRPO step' },
    body: ['on accepted groups only; checked, then published', 'as version n + 1'],
  },
]

/** How a version becomes the next one. */
export function loopPicture(): string {
  return picture(
    [860, 410],
    {
      title: 'The loop of a run',
      description: STEPS.map(({ title, body }) => `${title}: ${body.join(' ')}`).join('. '),
    },
    [
      text(LEFT, 38, 'Coordinator', { size: 16, weight: 700, fill: INK.blue }),
      text(RIGHT, 38, 'Volunteer', { size: 16, weight: 700, fill: INK.green }),
      ...STEPS.flatMap(({ tone, title, body, x, y }) => [
        box([x, y, WIDTH, body.length > 1 ? 72 : 54], softOf(tone), INK[tone]),
        text(x + 14, y + 22, title, { size: 14, weight: 600, fill: INK[tone] }),
        ...[lines(x + 14, y + 42, body, { size: 12.5 })],
      ]),
      arrow([
        [390, 89],
        [468, 89],
      ]),
      arrow([
        [470, 105],
        [430, 105],
        [430, 169],
        [392, 169],
      ]),
      arrow([
        [390, 160],
        [468, 160],
      ]),
      arrow([
        [653, 196],
        [653, 206],
        [430, 206],
        [430, 248],
        [392, 248],
      ]),
      text(480, 217, 'signed group', { size: 10.5, fill: INK.soft }),
      arrow([
        [390, 262],
        [468, 262],
      ]),
      arrow([
        [207, 294],
        [207, 316],
      ]),
      arrow([
        [24, 354],
        [10, 354],
        [10, 89],
        [22, 89],
      ]),
      lines(
        RIGHT,
        338,
        ['The policy is a GGUF base with a LoRA adapter.', 'Volunteers receive tasks and adapters, never code.'],
        { size: 12.5, fill: INK.soft },
      ),
    ],
  )
}

import { box, INK, picture, softOf, type Tone, text } from './svg.js'

const MEANING: Readonly<Record<string, { readonly tone: Tone; readonly means: string }>> = {
  'one term': { tone: 'green', means: 'a group within one lease' },
  renewed: { tone: 'blue', means: 'a group within a renewed lease' },
  'too slow': { tone: 'amber', means: 'too slow for the default leases' },
  'does not fit': { tone: 'red', means: 'the model does not fit' },
}

const LEFT = 230
const CELL = [168, 46] as const

/** What machines can do with models, from the table of docs/operate/sizing.md. */
export function hardwarePicture(sizing: string): string {
  const table = sizing
    .split('<!-- roles -->\n')[1]
    ?.split('\n\n')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| '))
  const rows = (table ?? []).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const [head, , ...models] = rows
  if (head === undefined || models.length === 0) throw new Error('docs/operate/sizing.md has no table of roles')
  const machines = head.slice(1)
  const drawn = models.flatMap(([model, ...cells], i) => {
    const y = 96 + i * (CELL[1] + 8)
    return [
      text(24, y + 28, model!, { size: 13, weight: 600 }),
      ...cells.flatMap((cell, k) =>
        cell.split(' / ').flatMap((role, half) => {
          const meaning = MEANING[role]
          if (!meaning) throw new Error(`docs/operate/sizing.md has an unknown role "${role}"`)
          const width = CELL[0] / 2 - 4
          const x = LEFT + k * CELL[0] + half * (width + 2)
          return [
            box([x, y, width, CELL[1]], softOf(meaning.tone), INK[meaning.tone]),
            text(x + width / 2, y + 20, half === 0 ? 'f16' : 'q4_K_M', {
              size: 10.5,
              anchor: 'middle',
              fill: INK.soft,
            }),
            text(x + width / 2, y + 36, role, { size: 10.5, anchor: 'middle', fill: INK[meaning.tone], weight: 600 }),
          ]
        }),
      ),
    ]
  })
  const bottom = 96 + models.length * (CELL[1] + 8)
  return picture(
    [LEFT + machines.length * CELL[0] + 20, bottom + 56],
    {
      title: 'Volunteer hardware',
      description: models
        .map(([model, ...cells]) => `${model}: ${cells.map((cell, i) => `${machines[i]}: ${cell}`).join(', ')}`)
        .join('. '),
    },
    [
      text(24, 38, 'What a volunteer’s machine can do for real models (computed)', { size: 16, weight: 700 }),
      ...machines.flatMap((machine, i) => {
        const [name, example] = machine.split(' (')
        return [
          text(LEFT + i * CELL[0] + 2, 68, name!, { size: 12.5, weight: 600 }),
          text(LEFT + i * CELL[0] + 2, 84, example?.replace(')', '') ?? '', { size: 11.5, fill: INK.soft }),
        ]
      }),
      ...drawn,
      ...Object.entries(MEANING).flatMap(([, { tone, means }], i) => [
        box([24 + i * 218, bottom + 16, 14, 14], softOf(tone), INK[tone]),
        text(44 + i * 218, bottom + 28, means, { size: 12 }),
      ]),
    ],
  )
}

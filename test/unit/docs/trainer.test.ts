import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LEARNING_RATES, withLearningRates } from '../../../coordinator/settings/learning-rates.js'
import { checkout } from '../../support/checkout.js'

interface Field {
  readonly properties?: Readonly<Record<string, Field>>
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
}

const { trainerJson } = JSON.parse(readFileSync(join(checkout, 'coordinator', 'trainer', 'contract.json'), 'utf8')) as {
  trainerJson: Field
}

function valuesOf(field: Field): string {
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(', ')
  return field.minimum === undefined ? '' : `${field.minimum} to ${field.maximum}`
}

function defaultOf(path: string, field: Field, isRequired: boolean): string {
  if (isRequired) return 'required'
  if (path === 'lora.targetModules') return 'all seven'
  return field.default === undefined ? 'none' : `\`${JSON.stringify(field.default)}\``
}

/** Path, default and values of every setting. */
const rowsOf = ({ properties = {}, required = [] }: Field, path = ''): string[][] =>
  Object.entries(properties).flatMap(([name, field]) =>
    field.properties
      ? rowsOf(field, `${path}${name}.`)
      : [[path + name, defaultOf(path + name, field, required.includes(name)), valuesOf(field)]],
  )

test('every setting of trainer.json is documented with its default and its range, and nothing else is', () => {
  const text = readFileSync(join(checkout, 'docs', 'reference', 'trainer.md'), 'utf8')
  const table = text.split('## Settings (`trainer.json`)')[1]!.split('\n## ')[0]!
  const documented = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, key, standard, values]) => [key!.replaceAll('`', ''), standard!, values!])
  assert.equal(documented.sort(), rowsOf(trainerJson).sort())
})

test('the table of learning rates is what npm run docs writes', () => {
  const text = readFileSync(join(checkout, 'docs', 'reference', 'trainer.md'), 'utf8')
  assert.is(withLearningRates(text), text)
  for (const { lr } of LEARNING_RATES) assert.ok(text.includes(`| ${lr} | `))
})

test.run()

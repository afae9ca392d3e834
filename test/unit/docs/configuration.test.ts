import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { configSchema, readConfig } from '../../../coordinator/settings/config.js'
import { checkout } from '../../support/checkout.js'

const text = readFileSync(join(checkout, 'docs', 'configuration.md'), 'utf8')

type Schema = z.core.JSONSchema.JSONSchema

/** Its fields are the trainer's, see trainer.test.ts. */
const ELSEWHERE = 'trainer.settings'

/** Paths of all fields below `schema` with their documented default; one that is required has none. */
function fieldsOf(schema: Schema, path = ''): [path: string, standard: string | undefined][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): [string, string | undefined][] => {
    if (typeof field === 'boolean') throw new Error(`${path}${name} has no schema`)
    if (field.properties && path + name !== ELSEWHERE) return fieldsOf(field, `${path}${name}.`)
    if (field.default !== undefined) return [[path + name, `\`${JSON.stringify(field.default)}\``]]
    return [[path + name, schema.required?.includes(name) ? 'required' : undefined]]
  })
}

const fields = new Map(fieldsOf(z.toJSONSchema(configSchema, { io: 'input' })))
const table = text.split('## Fields of `run.yaml`')[1]!.split('\n## ')[0]!
const rows = new Map(
  table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, field, standard]) => [field!.replaceAll('`', ''), standard!]),
)

test('every field of run.yaml is documented, in the order of the schema, and nothing else is', () => {
  assert.ok(fields.size >= 20)
  assert.equal([...rows.keys()], [...fields.keys()])
})

test('the documented defaults are those of the schema', () => {
  for (const [field, standard] of fields) {
    if (standard === undefined) assert.ok(rows.get(field), `${field}: say what happens without it`)
    else assert.is(rows.get(field), standard, field)
  }
})

test('the smallest documented configuration is read, and nothing can be left out of it', () => {
  const yaml = text.match(/```yaml\n([\s\S]*?)```/)![1]!
  const folder = mkdtempSync(join(tmpdir(), 'prove-config-'))
  const file = join(folder, 'run.yaml')
  try {
    writeFileSync(file, yaml)
    const config = readConfig(file)
    assert.is(config.base.path, join(folder, 'models', 'base.gguf'))
    assert.is(config.groupSize, 8)
    for (const [line] of yaml.matchAll(/^ *(path|name|servers|dataDir):.*$/gm)) {
      writeFileSync(file, yaml.replace(line, ''))
      assert.throws(() => readConfig(file), /run\.yaml/, line)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../common/errors/index.js'
import { explained, rejectedLine } from '../../../lab/rejected-candidates.js'
import { DatasetError } from '../../../tasks/dataset/index.js'
import { OBJECTIONS } from '../../../tasks/synthesis/index.js'

const CANDIDATES = [
  { id: '0.0.0', by: 'no_chain', plan: 'abstention of train: 1 call in 2 requests' },
  {
    id: '12.0.3',
    by: 'errand',
    plan: 'multi-turn of train: 2 calls in 2 requests',
    chain: 'banking:list_cards>freeze_card',
  },
]

const errorOf = (action: Promise<unknown>): Promise<unknown> =>
  action.then(
    () => undefined,
    (error: unknown) => error,
  )

test('a dropped candidate is explained with its plan, its chain and the objection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-rejected-'))
  try {
    const file = join(folder, 'rejected.jsonl')
    writeFileSync(file, CANDIDATES.map(rejectedLine).join(''))
    const text = await explained('12.0.3', file)
    for (const part of ['12.0.3', '2 calls in 2 requests', 'list_cards>freeze_card', 'dropped by errand: One reason'])
      assert.ok(text.includes(part), text)
    assert.not.match(await explained('0.0.0', file), /^ {2}chain: /m)
    const missing = await errorOf(explained('12.0.4', file))
    assert.ok(missing instanceof DatasetError && missing.code === 'no_such_candidate')
    writeFileSync(file, '{"id":"12.0.3"}\n')
    const damaged = await errorOf(explained('12.0.3', file))
    assert.ok(damaged instanceof DatasetError && damaged.code === 'damaged_record')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('an objection is explained by its name, and all of them without a name', async () => {
  assert.match(await explained('errand'), /^errand: .*drops: .*keeps: /s)
  const all = await explained()
  for (const { name } of OBJECTIONS) assert.match(all, new RegExp(`^${name}: `, 'm'))
  for (const wrong of [explained('no_such'), explained('12.0.3')]) assert.instance(await errorOf(wrong), UsageError)
})

test.run()

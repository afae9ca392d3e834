import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../reward/index.js'
import { CATALOGUE } from '../../../servers/catalogue.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { areNamedInGoodTime } from '../../../synthesis/making/conversation-script.js'
import type { Way } from '../../../synthesis/making/references.js'
import { type ToldStep, tellReferences } from '../../../synthesis/making/tell-references.js'
import type { Step } from '../../../synthesis/making/walk.js'

const test = suite('names of what is looked up')
const server = CATALOGUE.get('banking')!
const NAME = 'Lake Music Club'
const label: Way = { how: 'label', noun: 'payee', label: NAME }
const only: Way = { how: 'only', noun: 'payee' }
const found = { found: 1, payees: [{ name: NAME, payee: 'lake-music-club', bank: 'Goldleaf', status: 'active' }] }
const entity = { field: 'payee', value: 'lake-music-club', source: 0, entity: 'payee' }

const step = (name: string, args: JsonObject, output: JsonObject, bindings: Step['bindings'] = []): Step => ({
  server,
  tool: server.toolsByName.get(name)!,
  args,
  output,
  bindings,
})

/** A payee is looked for by some words and paid by its name. */
function paid(words: string, ways: readonly Way[] = [label]): Step[] {
  const payment = { account: 'checking-1', payee: 'lake-music-club', amount: 20 }
  return [step('find_payee', { name: words }, found), step('send_payment', payment, {}, [{ ...entity, ways }])]
}

const byName = (steps: readonly Step[]): ToldStep[] =>
  steps.map(({ bindings, ...rest }) => ({ ...rest, bindings: bindings.map((one) => ({ ...one, way: label })) }))

test('are said when they are known: it was looked for by that name, in an earlier turn, or unasked', () => {
  const together = [[0, 1]]
  assert.ok(areNamedInGoodTime(byName(paid(NAME)), together, new Set()))
  const vague = byName(paid('Lake'))
  assert.not.ok(areNamedInGoodTime(vague, together, new Set()))
  assert.ok(areNamedInGoodTime(vague, [[0], [1]], new Set()))
  assert.ok(areNamedInGoodTime(vague, together, new Set([0])))
})

test('give way to what else means the thing, and to nothing where nothing does', () => {
  const random = seededRandom(1)
  for (let draw = 0; draw < 20; draw++) {
    const [, payment] = tellReferences(paid('Lake', [label, only]), [[0, 1]], true, random)!
    assert.equal(payment!.bindings[0]!.way, only)
  }
  assert.is(tellReferences(paid('Lake'), [[0, 1]], true, random), null)
  assert.ok(tellReferences(paid('Lake'), [[0, 1]], true, random, true), 'of what nobody does no name is too early')
  assert.ok(tellReferences(paid('Lake'), [[0], [1]], true, random))
})

test('that are sentences are not said where the thing can be meant otherwise', () => {
  const long: Way = { how: 'label', noun: 'message', label: 'Please have a look at the lunch' }
  const it: Way = { how: 'only', noun: 'message' }
  const random = seededRandom(2)
  for (let draw = 0; draw < 20; draw++) {
    const [, payment] = tellReferences(paid(NAME, [long, it]), [[0], [1]], true, random)!
    assert.equal(payment!.bindings[0]!.way, it)
  }
})

test.run()

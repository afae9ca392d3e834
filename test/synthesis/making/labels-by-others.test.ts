import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Agreement, labelAgreement } from '../../support/label-agreement.js'

const test = suite('the graph and the labels of others')
const { workflows, steps, functions, pairs, needed, dependent, missed, added } = labelAgreement()

const hasAtLeast = ({ labelled, derived, both }: Agreement, precision: number, recall: number): void => {
  assert.ok(both / derived >= precision, `precision ${both / derived}`)
  assert.ok(both / labelled >= recall, `recall ${both / labelled}`)
}

test('are about the same workflows', () => {
  assert.is(workflows, 107)
  assert.is(steps, 559)
  assert.is(dependent.labelled, 323)
})

test('agree as the report of November 2026 states', () => {
  hasAtLeast(functions, 0.76, 0.6)
  hasAtLeast(pairs, 0.71, 0.86)
  hasAtLeast(dependent, 0.89, 0.89)
  hasAtLeast(needed, 0.71, 0.98)
})

test('differ for reasons that the declarations show', () => {
  const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((total, one) => total + one, 0)
  assert.is(sum(missed), pairs.labelled - pairs.both)
  assert.is(sum(added), pairs.derived - pairs.both)
  assert.ok(missed['key of another kind'] <= 4)
})

test.run()

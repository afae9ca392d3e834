import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { emptyStatistics, PAPER_PROFILE, quotasOf, unmetQuotas } from '../../../tasks/dataset/index.js'

test('quotas have the asked and the actual share, and leave out groups without examples', () => {
  const statistics = emptyStatistics()
  assert.equal(quotasOf(PAPER_PROFILE, statistics), {})
  statistics.kinds.get('train')!.set('multi-turn', 100)
  for (const [length, count] of [30, 35, 22, 13].entries()) statistics.chainLengths.set(length + 2, count)
  const { asked, got, of } = quotasOf(PAPER_PROFILE, statistics)['chain of 5 tools']!
  assert.equal([asked.toFixed(2), got, of], ['0.13', 0.13, 100])
})

test('a quota that is missed by more than a tenth is reported with the reason', () => {
  const quota = (got: number, of = 1000) => ({ 'a call fails and the assistant recovers': { asked: 0.1, got, of } })
  assert.equal(unmetQuotas(quota(0.095), 0), [])
  assert.equal(unmetQuotas(quota(0.05, 20), 0), [], 'one example makes the difference')
  const [line] = unmetQuotas(quota(0.05), 7)
  assert.match(line!, /^a call fails and the assistant recovers: 5.0 % for 10.0 %\. 7 plans found no chain/)
})

test.run()

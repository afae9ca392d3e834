import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { priceOption } from '../../../common/cli/index.js'
import { rephrasingLine } from '../../../lab/synthesis-progress.js'

const report = {
  paraphraser: 'a model',
  examples: 120,
  rephrased: 100,
  kept: 20,
  fromCache: 20,
  requests: 1310,
  promptTokens: 402_000,
  completionTokens: 61_000,
  damagedCacheLines: 0,
  problems: {},
}

test('the paraphraser’s progress shows usage, cost and remaining time', () => {
  const line = rephrasingLine(report, 500, priceOption('0.5,2'), 600)
  assert.match(
    line,
    /120 of 500 examples rephrased \(100 reworded, 20 kept\), 1,310 requests, 402,000 \+ 61,000 tokens/,
  )
  assert.match(line, /cost 0\.32, 38 min left$/)
})

test('unknown prices and times are omitted', () => {
  const cached = rephrasingLine({ ...report, examples: 20, fromCache: 20 }, 500, undefined, 3)
  assert.not.match(cached, /cost|left/)
})

test('a price consists of two numbers', () => {
  for (const text of ['1', '1,2,3', 'a,b', '-1,2', '']) assert.throws(() => priceOption(text), text)
})

test.run()

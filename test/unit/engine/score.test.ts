import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BATCH_TOKENS, SCORED_BATCH_TOKENS } from '../../../rollout/engine/constants.js'
import { createScorer } from '../../../rollout/engine/score.js'
import type { Draw, Token } from '../../../rollout/engine/types.js'
import { patience } from '../../support/patience.js'

/** A sequence that says of a token what all before it come to, and how many tokens each prefill had. */
class Listed {
  held: Token[] = []
  fed: number[] = []
  async clear(): Promise<void> {
    this.held = []
  }
  async keepPrefix(tokens: readonly Token[]): Promise<number> {
    const differs = tokens.findIndex((token, i) => token !== this.held[i])
    this.held = this.held.slice(0, differs === -1 ? tokens.length : differs)
    return this.held.length
  }
  async predict(tokens: readonly Token[], targets: readonly (Token | null)[]) {
    this.fed.push(tokens.length)
    return tokens.map((token, i) => {
      this.held.push(token)
      const logprob = this.held.reduce((sum, before, at) => sum - before * (at + 1), 0) - targets[i]!
      return targets[i] === null ? null : { logprob, expectedMismatch: 0, logitError: 0 }
    })
  }
}

const PROMPT = Array.from({ length: BATCH_TOKENS + 3 * SCORED_BATCH_TOKENS + 5 }, (_, i) => i % 7)
const rollout = (first: number): Token[] => [...PROMPT, ...Array.from({ length: 20 }, (_, i) => first + i)]
const draws = Array.from({ length: 20 }, (_, position): Draw => ({ seed: 1, position }))

function scored(text: readonly Token[], how: readonly (Draw | null)[] | null, by = new Listed()) {
  const scorer = createScorer(by)
  const score = (tokens: readonly Token[], own = how) => scorer.score(tokens, PROMPT.length, own, patience())
  return { by, scorer, score, first: score(text) }
}
const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

test('rollouts of a group are spared the prompt that the one before had, and nothing else', async () => {
  const { by, score, first } = scored(rollout(10), draws)
  assert.is((await first).length, 20)
  assert.is(total(by.fed), PROMPT.length + 19)
  by.fed = []
  const second = await score(rollout(40))
  // The prefill in which the prompt ends tells of the first sampled token.
  const kept = BATCH_TOKENS + 3 * SCORED_BATCH_TOKENS
  assert.equal(by.fed, [SCORED_BATCH_TOKENS, PROMPT.length + 19 - kept - SCORED_BATCH_TOKENS])
  assert.equal(second, await scored(rollout(40), draws).first)
})

test('a text with another beginning is computed from where it differs, in the prefills that it would have alone', async () => {
  const { by, score, first } = scored(rollout(10), draws)
  await first
  by.fed = []
  const other = rollout(10).with(BATCH_TOKENS + SCORED_BATCH_TOKENS + 1, 6)
  const found = await score(other)
  assert.is(total(by.fed), PROMPT.length + 19 - BATCH_TOKENS - SCORED_BATCH_TOKENS)
  assert.equal(found, await scored(other, draws).first)
})

test('log-probabilities alone take larger prefills, and keep none of smaller ones', async () => {
  const { by, score, first } = scored(rollout(10), draws)
  await first
  by.fed = []
  await score(rollout(40), null)
  assert.equal(by.fed, [PROMPT.length + 19 - BATCH_TOKENS])
})

test('nothing is kept of a sequence that something else has used, or which has lost what it held', async () => {
  const { by, scorer, score, first } = scored(rollout(10), draws)
  await first
  for (const happens of [() => scorer.forget(), () => by.held.splice(0)]) {
    by.fed = []
    happens()
    await score(rollout(40))
    assert.is(total(by.fed), PROMPT.length + 19)
  }
})

test.run()

import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  createRecordedSource,
  type EpisodeLimits,
  promptOf,
  type Recording,
  RecordingMismatch,
  type Rollout,
  runEpisode,
} from '../../../rollout/episode/index.js'
import { patience } from '../../support/patience.js'
import { AMPLE, END, groundTruthScript, lendingTask, play, runtimeOf, writeCall } from '../../support/scripted.js'

const runtime = runtimeOf()
const task = lendingTask()
const truth = groundTruthScript(task)
const lend = writeCall('lend_book', { book: 'emma', reader: 'Ada' })
const promptLength = promptOf(task, runtime, AMPLE).length

async function replay(recording: Recording, limits: EpisodeLimits = AMPLE): Promise<Rollout> {
  const source = createRecordedSource(recording, promptOf(task, runtime, limits), runtime.tokenizer)
  const rollout = await runEpisode(task, source, runtime, limits, patience())
  source.assertConsumed()
  return rollout
}

/** The code with which the replay refuses a recording, or what else became of it. */
async function refusalOf(recording: Recording, limits: EpisodeLimits = AMPLE): Promise<string> {
  try {
    await replay(recording, limits)
    return 'accepted'
  } catch (error) {
    if (error instanceof RecordingMismatch) return error.code
    throw error
  }
}

const HONEST: readonly (readonly [string, readonly string[], Partial<EpisodeLimits>])[] = [
  ['that solved the task', truth, {}],
  ['that said nothing of use', ['No.', 'No.'], {}],
  [
    'with calls that went wrong in every way',
    ['<tool_call>{oops</tool_call>', writeCall('fly', {}), `${lend}${lend}`, 'Done.', 'Done.'],
    {},
  ],
  ['that hit the call limit', [`${lend}${lend}`], { maxCalls: 1 }],
  ['that hit the turn limit', [lend, lend], { maxAssistantTurns: 2 }],
  ['cut off within a turn', [lend], { maxTurnTokens: 20 }],
  ['whose turn ended on its last token', ['No.', 'No.'], { maxTurnTokens: 4 }],
  ['cut off within a call by the length of the rollout', [lend], { maxRolloutTokens: promptLength + 20 }],
  ['without tokens for an answer', [lend], { maxRolloutTokens: promptLength + lend.length + 10 }],
]
for (const [what, script, change] of HONEST) {
  test(`a recorded rollout ${what} replays to the same rollout`, async () => {
    const limits = { ...AMPLE, ...change }
    const rollout = await play(task, script, runtime, limits)
    assert.equal(await replay(rollout, limits), rollout)
    const stored = JSON.parse(JSON.stringify({ ...rollout, mask: [...rollout.mask] })) as Recording & { mask: number[] }
    assert.equal(await replay({ ...stored, mask: Uint8Array.from(stored.mask) }, limits), rollout)
  })
}

const original = await play(task, truth, runtime)
/** Where each turn of the policy begins and ends (exclusive). */
const turns = (() => {
  const starts = [...original.mask.keys()].filter((i) => original.mask[i] === 1 && original.mask[i - 1] !== 1)
  return starts.map((start) => ({ start, end: original.mask.indexOf(0, start) }))
})()
const firstTurn = turns[0]!
const episodeServerAt = firstTurn.end + 5

const withToken = (at: number, token: number): Recording => ({ ...original, tokens: original.tokens.with(at, token) })
const withFlip = (at: number): Recording => ({ ...original, mask: original.mask.with(at, 1 - original.mask[at]!) })
const without = (from: number, to: number): Recording => {
  const sampled = (end: number): number => original.mask.subarray(0, end).filter((bit) => bit === 1).length
  return {
    tokens: original.tokens.toSpliced(from, to - from),
    mask: Uint8Array.from([...original.mask].toSpliced(from, to - from)),
    logprobs: original.logprobs.toSpliced(sampled(from), sampled(to) - sampled(from)),
  }
}
const withExtra = (at: number, tokens: readonly number[], bit: 0 | 1): Recording => ({
  tokens: original.tokens.toSpliced(at, 0, ...tokens),
  mask: Uint8Array.from([...original.mask].toSpliced(at, 0, ...tokens.map(() => bit))),
  logprobs: bit === 1 ? [...original.logprobs, ...tokens.map(() => -1)] : original.logprobs,
})
const last = original.tokens.length

const FORGED: readonly (readonly [string, Recording, string])[] = [
  ['another token in the prompt', withToken(3, 65), 'prompt_mismatch'],
  ['another last token in the prompt', withToken(promptLength - 1, 65), 'prompt_mismatch'],
  ['a prompt token said to be sampled', withFlip(3), 'prompt_mismatch'],
  ['a prompt token left out', without(3, 4), 'prompt_mismatch'],
  ['nothing but half a prompt', without(10, last), 'prompt_mismatch'],
  ['nothing at all', { tokens: [], mask: new Uint8Array(), logprobs: [] }, 'prompt_mismatch'],
  ['another token from the environment', withToken(episodeServerAt, 65), 'environment_mismatch'],
  ['an environment token said to be sampled', withFlip(episodeServerAt), 'environment_mismatch'],
  ['an environment token left out', without(episodeServerAt, episodeServerAt + 1), 'environment_mismatch'],
  ['an environment token too many', withExtra(episodeServerAt, [65], 0), 'environment_mismatch'],
  ['a sampled token said to be the environment’s', withFlip(firstTurn.start + 2), 'turn_boundary'],
  ['an end token said to be the environment’s', withFlip(firstTurn.end - 1), 'turn_boundary'],
  ['no end token after the first turn', without(firstTurn.end - 1, firstTurn.end), 'turn_boundary'],
  ['no end token at the end', without(last - 1, last), 'turn_boundary'],
  ['a first turn that is missing', without(firstTurn.start, last), 'turn_boundary'],
  ['an end token in the middle of a turn', withToken(firstTurn.start + 2, END), 'environment_mismatch'],
  ['more of the same turn after its end token', withExtra(firstTurn.end, [65, END], 1), 'environment_mismatch'],
  ['all turns but the first cut off', without(firstTurn.end, last), 'environment_mismatch'],
  ['a last turn that is missing', without(turns.at(-1)!.start, last), 'turn_boundary'],
  ['a sampled token after the end of the episode', withExtra(last, [END], 1), 'length_mismatch'],
  ['an environment token after the end of the episode', withExtra(last, [65], 0), 'length_mismatch'],
  ['a log-probability too many', { ...original, logprobs: [...original.logprobs, -1] }, 'length_mismatch'],
  ['a log-probability too few', { ...original, logprobs: original.logprobs.slice(1) }, 'length_mismatch'],
]
for (const [what, recording, code] of FORGED) {
  test(`a recording with ${what} is refused as ${code}`, async () => {
    assert.is(await refusalOf(recording), code)
  })
}

test('a rollout recorded under other limits is refused', async () => {
  assert.is(await refusalOf(original, { ...AMPLE, maxTurnTokens: 20 }), 'length_mismatch')
  assert.is(await refusalOf(original, { ...AMPLE, maxAssistantTurns: 2 }), 'length_mismatch')
  assert.is(await refusalOf(original, { ...AMPLE, maxCalls: 1 }), 'length_mismatch')
  const cut = await play(task, [lend], runtime, { ...AMPLE, maxTurnTokens: 20 })
  assert.is(await refusalOf(cut), 'turn_boundary')
})

test('a recording of the same words for another task is refused', async () => {
  const other = lendingTask({ turns: ['Please lend emma to Bo.', 'Now take that loan back.'] })
  assert.is(await refusalOf(await play(other, truth, runtime)), 'prompt_mismatch')
})

test('no single changed token and no single flipped mask bit replays to the original', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: last - 1 }), fc.integer({ min: 1, max: 50 }), async (at, shift) => {
      const code = await refusalOf(withFlip(at))
      if (at < promptLength) assert.is(code, 'prompt_mismatch')
      else assert.is(code, original.mask[at] === 1 ? 'turn_boundary' : 'environment_mismatch')
      const changed = withToken(at, (original.tokens[at]! + shift) % 0xd800)
      if (at < promptLength) assert.is(await refusalOf(changed), 'prompt_mismatch')
      else if (original.mask[at] === 0) assert.is(await refusalOf(changed), 'environment_mismatch')
      else {
        const result = await replay(changed).catch((error: unknown) => error)
        assert.ok(result instanceof RecordingMismatch || (result as Rollout).tokens[at] !== original.tokens[at])
      }
    }),
    { numRuns: 60, seed: 20260302 },
  )
})

test('a recorded turn comes with its own log-probabilities', async () => {
  const prompt = promptOf(task, runtime, AMPLE)
  const source = createRecordedSource(original, prompt, runtime.tokenizer)
  const { signal } = new AbortController()
  const turn = await source.next([], AMPLE.maxTurnTokens, signal)
  const length = firstTurn.end - firstTurn.start
  assert.is(turn.stop, 'end')
  assert.equal(turn.tokens, original.tokens.slice(firstTurn.start, firstTurn.end))
  assert.equal(turn.logprobs, original.logprobs.slice(0, length))
  const feed = original.tokens.slice(firstTurn.end, turns[1]!.start)
  const next = await source.next(feed, AMPLE.maxTurnTokens, signal)
  assert.equal(next.logprobs, original.logprobs.slice(length, length + next.tokens.length))
})

test.run()

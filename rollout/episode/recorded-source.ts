import type { Token, Tokenizer, TokenSource } from '../engine/types.js'
import { RecordingMismatch } from './errors.js'

/** The claimed tokens of a rollout. */
export interface Recording {
  readonly tokens: readonly Token[]
  readonly mask: Uint8Array
  readonly logprobs: readonly number[]
}

export interface RecordedSource extends TokenSource {
  /** @throws RecordingMismatch `length_mismatch` unless the episode used every recorded token */
  assertConsumed(): void
}

/**
 * Creates a token source that plays back a recording and checks that the episode driver could have produced it. Prompt and environment
 * tokens must equal the current ones, and every turn must end with an end token or at its limit.
 * @param prompt  the prompt rebuilt from the task
 * @throws RecordingMismatch
 */
export function createRecordedSource(
  recording: Recording,
  prompt: readonly Token[],
  tokenizer: Pick<Tokenizer, 'isEndOfGeneration'>,
): RecordedSource {
  const { tokens, mask, logprobs } = recording
  let at = 0
  let sampledBefore = 0

  const expect = (expected: readonly Token[], code: 'prompt_mismatch' | 'environment_mismatch'): void => {
    for (const token of expected) {
      if (tokens[at] !== token || mask[at] !== 0) {
        throw new RecordingMismatch(
          code,
          `token ${at} is ${tokens[at]} with mask ${mask[at]}, not ${token} with mask 0`,
        )
      }
      at++
    }
  }
  expect(prompt, 'prompt_mismatch')

  return {
    async next(feed, maxTokens) {
      expect(feed, 'environment_mismatch')
      const start = at
      let stop: 'end' | 'length' | undefined
      while (stop === undefined) {
        const token = tokens[at]
        if (token === undefined || mask[at] !== 1) {
          throw new RecordingMismatch(
            'turn_boundary',
            `the turn from token ${start} ends at token ${at} without an end token and below its limit`,
          )
        }
        at++
        if (tokenizer.isEndOfGeneration(token)) stop = 'end'
        else if (at - start === maxTokens) stop = 'length'
      }
      const length = at - start
      const turn = {
        tokens: tokens.slice(start, at),
        logprobs: logprobs.slice(sampledBefore, sampledBefore + length),
        stop,
      }
      sampledBefore += length
      return turn
    },
    async close() {},
    assertConsumed() {
      if (at !== tokens.length || sampledBefore !== logprobs.length) {
        throw new RecordingMismatch('length_mismatch', `the episode ends at token ${at} of ${tokens.length}`)
      }
    },
  }
}

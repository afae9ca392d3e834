import { codePointTokenizer } from '../../lab/demonstrations.js'
import { type GroupBody, type RecordedRollout, toMaskRuns } from '../../proto/index.js'
import type { Token, Tokenizer, TokenSource } from '../../rollout/engine/types.js'
import {
  createEpisodeRuntime,
  DEFAULT_RULES,
  type EpisodeLimits,
  type EpisodeRuntime,
  groundTruthScript as groundTruthIn,
  nameTask,
  type Rollout,
  rulesNamed,
  runEpisode,
  type Task,
  type TaskBody,
} from '../../rollout/episode/index.js'
import { recordCall } from '../../rollout/verification/index.js'
import { generateSeedState, Session } from '../../servers/kernel/index.js'
import { library } from './library-environment.js'
import { patience } from './patience.js'

/** Shared parts of the tests of episodes: a vocabulary of code points, policies that follow a script, and library tasks. */

const END_TEXT = '<|im_end|>'
/** A private-use code point that represents the end-of-generation token. */
export const END: Token = 0xe000

export const CHAT_TEMPLATE =
  "{%- for tool in tools %}{{ tool.function.name + '\\n' }}{%- endfor %}" +
  "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}" +
  "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"

/** Tokenizer with code points as tokens, an end-of-generation token and reserved tags, like the vocabulary of a GGUF. */
export function scriptTokenizer(chatTemplate = CHAT_TEMPLATE): Tokenizer {
  const plain = codePointTokenizer(chatTemplate)
  const end = String.fromCodePoint(END)
  return {
    ...plain,
    reservedTags: ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'],
    tokenize: (text, special) => plain.tokenize(special ? text.replaceAll(END_TEXT, end) : text, special),
    detokenize: (tokens) => plain.detokenize(tokens).replaceAll(end, END_TEXT),
    isEndOfGeneration: (token) => token === END,
  }
}

export const AMPLE: EpisodeLimits = {
  maxTurnTokens: 2000,
  maxRolloutTokens: 20_000,
  maxAssistantTurns: 10,
  maxCalls: 24,
}

const rules = rulesNamed(DEFAULT_RULES)
export const runtimeOf = (
  environments = [library],
  tokenizer = scriptTokenizer(),
  { toolCallFormat, reward } = rules,
): EpisodeRuntime => createEpisodeRuntime(environments, tokenizer, { toolCallFormat, reward })

/** The default tool-call format, which all scripts here use. */
export const { parseCalls, writeCall } = rules.toolCallFormat
export const groundTruthScript = (task: Pick<Task, 'turns' | 'groundTruth' | 'facts' | 'questions'>): string[] =>
  groundTruthIn(task, rules.toolCallFormat)

export interface ScriptedSource extends TokenSource {
  readonly feeds: readonly string[]
  readonly closed: boolean
}

/** Returns a policy that writes the messages of a script, cut off at the limit of a turn. Every token has another probability. */
export function scriptedSource(script: readonly string[], tokenizer: Tokenizer): ScriptedSource {
  const messages = [...script]
  const feeds: string[] = []
  let closed = false
  let sampled = 0
  return {
    feeds,
    get closed() {
      return closed
    },
    async next(feed, maxTokens, signal) {
      signal.throwIfAborted()
      feeds.push(tokenizer.detokenize(feed))
      const message = messages.shift()
      if (message === undefined) throw new Error('the script is over')
      const whole = [...tokenizer.tokenize(message, true), END]
      const tokens = whole.slice(0, maxTokens)
      // Multiples of 1/64 are exact in float32, the type of log-probabilities on the wire.
      return {
        tokens,
        logprobs: tokens.map(() => -(sampled++ % 64) / 64),
        stop: tokens.length < whole.length ? 'length' : 'end',
      }
    },
    async close() {
      closed = true
    },
  }
}

export function play(task: Task, script: readonly string[], runtime: EpisodeRuntime, limits = AMPLE): Promise<Rollout> {
  return runEpisode(task, scriptedSource(script, runtime.tokenizer), runtime, limits, patience())
}

const loan = (() => {
  const result = Session.open(generateSeedState(library, 1)).call('lend_book', { book: 'emma', reader: 'Ada' })
  if (!result.ok) throw new Error(result.message)
  return result.output.loan as string
})()

/** Task in which Ada borrows a book and returns it in the second turn. */
export const lendingTask = (change: Partial<TaskBody> = {}): Task =>
  nameTask({
    kind: 'multi-turn',
    environments: [{ environment: 'library', seed: 1 }],
    toolset: ['list_books', 'lend_book', 'return_book'].map((tool) => ({ environment: 'library', tool })),
    turns: ['Please lend emma to Ada.', 'Now take that loan back.'],
    groundTruth: [
      { name: 'lend_book', arguments: { book: 'emma', reader: 'Ada' }, after: [], turn: 0 },
      { name: 'return_book', arguments: { loan }, after: [0], turn: 1 },
    ],
    chain: 'library:lend_book>return_book',
    ...change,
  })

/** Returns a rollout in the form in which a node delivers it. */
export function recorded(rollout: Rollout): RecordedRollout {
  const { tokens, mask, logprobs, calls, responses, reward, stateHash, end } = rollout
  return {
    tokens,
    maskRuns: toMaskRuns([...mask] as (0 | 1)[]),
    logprobs,
    calls: calls.map((call, i) => recordCall(call, responses[i]!)),
    reward: {
      total: reward.total,
      components: Object.entries(reward.components ?? {}).map(([name, value]) => ({ name, value: value as number })),
    },
    stateHash,
    endReason: end,
  }
}

export function bodyOf(task: Task, rollouts: readonly Rollout[]): GroupBody {
  return {
    leaseId: 'a1'.repeat(16),
    taskId: task.id,
    policyId: 'b2'.repeat(32),
    rollouts: rollouts.map(recorded),
    engine: { nodeLlamaCpp: '3.22.1', llamaCpp: 'b1', backend: 'cpu' },
    generationMs: 1200,
  }
}

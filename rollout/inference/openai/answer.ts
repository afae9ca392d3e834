import type { Completion, Piece, SampledToken } from '../completion.js'

/** The fields that all parts of one answer share. */
export interface AnswerHead {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
}

const encoder = new TextEncoder()

const logprobsOf = (tokens: readonly SampledToken[]): object => ({
  content: tokens.map(({ text, logprob }) => ({
    token: text,
    logprob,
    bytes: [...encoder.encode(text)],
    top_logprobs: [],
  })),
  refusal: null,
})

const reasonOf = ({ stop, calls }: Completion): string => {
  if (stop === 'length') return 'length'
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

const callsOf = ({ calls }: Completion): object[] =>
  calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))

/** Returns the token counts of an answer. */
export const usageOf = (promptTokens: number, completions: readonly Completion[]): object => {
  const sampled = completions.reduce((sum, { ids }) => sum + ids.length, 0)
  return { prompt_tokens: promptTokens, completion_tokens: sampled, total_tokens: promptTokens + sampled }
}

/** Returns a `chat.completion` (OpenAI API reference, "The chat completion object"). */
export function completionOf(
  head: AnswerHead,
  completions: readonly Completion[],
  { promptTokens, logprobs }: { readonly promptTokens: number; readonly logprobs: boolean },
): object {
  return {
    ...head,
    object: 'chat.completion',
    choices: completions.map((completion, index) => ({
      index,
      message: {
        role: 'assistant',
        content: completion.text === '' && completion.calls.length > 0 ? null : completion.text,
        refusal: null,
        ...(completion.calls.length > 0 ? { tool_calls: callsOf(completion) } : {}),
      },
      logprobs: logprobs ? logprobsOf(completion.tokens) : null,
      finish_reason: reasonOf(completion),
    })),
    usage: usageOf(promptTokens, completions),
  }
}

const chunk = (
  head: AnswerHead,
  delta: object,
  finish: string | null = null,
  logprobs: object | null = null,
): object => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs, finish_reason: finish }],
})

/** The parts of a streamed answer (OpenAI API reference, "The chat completion chunk object"). */
export const chunks = {
  first: (head: AnswerHead): object => chunk(head, { role: 'assistant', content: '' }),
  piece: (head: AnswerHead, { text, tokens }: Piece, logprobs: boolean): object =>
    chunk(head, { content: text }, null, logprobs ? logprobsOf(tokens) : null),
  last(head: AnswerHead, completion: Completion): object[] {
    const made = callsOf(completion).map((call, index) => ({ index, ...call }))
    return [...(made.length > 0 ? [chunk(head, { tool_calls: made })] : []), chunk(head, {}, reasonOf(completion))]
  },
  usage: (head: AnswerHead, usage: object): object => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [],
    usage,
  }),
} as const

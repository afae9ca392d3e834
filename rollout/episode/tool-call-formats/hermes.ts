import { type Marks, taggedCalls } from './tagged-calls.js'

const CHATML: Marks = {
  name: 'hermes',
  turnEnd: '<|im_end|>',
  user: '<|im_start|>user\n',
  assistant: '<|im_start|>assistant\n',
  callText: (name, args) => JSON.stringify({ name, arguments: args }),
}

/** Hermes' tool calls, JSON between tags that the vocabulary holds as single tokens, in Qwen's ChatML: results come as a user's turn. */
export const HERMES = taggedCalls(CHATML)

/** The same of a model that is told to think before it speaks: what it thinks is neither a call nor said to anybody. */
export const HERMES_THINKING = taggedCalls({ ...CHATML, name: 'hermes-thinking', thinking: 'on' })

/** The same of a model that could think and is told not to: each of its turns opens with thoughts that are over, as Qwen3's template has it. */
export const HERMES_NO_THINKING = taggedCalls({
  ...CHATML,
  name: 'hermes-no-thinking',
  thinking: 'off',
  assistant: `${CHATML.assistant}<think>\n\n</think>\n\n`,
})

import { jsonNotation } from './json-notation.js'
import { type Marks, taggedCalls } from './tagged-calls.js'

const CHATML: Marks = {
  name: 'hermes',
  turnEnd: '<|im_end|>',
  user: '<|im_start|>user\n',
  assistant: '<|im_start|>assistant\n',
  notation: jsonNotation((name, args) => JSON.stringify({ name, arguments: args })),
}

/** Hermes' tool calls in Qwen's ChatML: JSON between tags that are single tokens of the vocabulary. Results are a turn of the user. */
export const HERMES = taggedCalls(CHATML)

/** Hermes' format for a model with thinking on: its thoughts contain no calls and are not shown to the user. */
export const HERMES_THINKING = taggedCalls({ ...CHATML, name: 'hermes-thinking', thinking: 'on' })

/** Hermes' format for a model with thinking off: each of its turns begins with empty thoughts, as in Qwen3's template. */
export const HERMES_NO_THINKING = taggedCalls({
  ...CHATML,
  name: 'hermes-no-thinking',
  thinking: 'off',
  assistant: `${CHATML.assistant}<think>\n\n</think>\n\n`,
})

import { jsonNotation } from './json-notation.js'
import { spacedJson } from './spaced-json.js'
import { taggedCalls } from './tagged-calls.js'

const USER = '<|start_of_role|>user<|end_of_role|>'

/** Granite 4's format: roles between control tokens, Hermes' tool calls, and one line for each result. */
export const GRANITE = taggedCalls({
  name: 'granite',
  turnEnd: '<|end_of_text|>',
  user: USER,
  results: `${USER}\n`,
  assistant: '<|start_of_role|>assistant<|end_of_role|>',
  notation: jsonNotation((name, args) => spacedJson({ name, arguments: args })),
})

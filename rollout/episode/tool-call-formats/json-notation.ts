import type { JsonObject } from '../../reward/index.js'
import type { Span } from '../tool-call-format.js'
import { readJsonCall } from './json-call.js'
import type { CallNotation } from './tagged-calls.js'

const ARGUMENTS = /"arguments"\s*:/

/**
 * Hermes' notation: one call as JSON between `<tool_call>` and `</tool_call>`.
 * @param write  writes the JSON of a call in the form of the model's template
 */
export const jsonNotation = (write: (name: string, args: JsonObject) => string): CallNotation => ({
  open: '<tool_call>',
  close: '</tool_call>',
  write,
  read(text) {
    const call = readJsonCall(text, 'arguments')
    return call && [call]
  },
  spans(text): Span[] {
    const key = ARGUMENTS.exec(text)
    return key ? [[key.index + key[0].length, text.length]] : []
  },
})

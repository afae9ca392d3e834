import { blockSpans, readBlock, writeBlock } from './call-block.js'
import { taggedCalls } from './tagged-calls.js'

/**
 * Several calls in one block of straight-line code (`call-block.ts`) in Qwen's ChatML. The calls are made in order, in one turn. The turn
 * after the block has the results of all its calls, so an answer can state every value that a call returned.
 */
export const CODE_BLOCK = taggedCalls({
  name: 'code-block',
  turnEnd: '<|im_end|>',
  user: '<|im_start|>user\n',
  assistant: '<|im_start|>assistant\n',
  notation: {
    open: '<tool_code>',
    close: '</tool_code>',
    read: readBlock,
    spans: blockSpans,
    write: (name, args) => writeBlock([{ name, arguments: args }]),
    writeAll: writeBlock,
  },
})

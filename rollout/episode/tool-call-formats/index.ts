import { EpisodeError } from '../errors.js'
import type { ToolCallFormat } from '../tool-call-format.js'
import { CODE_BLOCK } from './code-block.js'
import { GRANITE } from './granite.js'
import { HERMES, HERMES_NO_THINKING, HERMES_THINKING } from './hermes.js'

/** All tool-call formats of this version, by name. */
export const TOOL_CALL_FORMATS: ReadonlyMap<string, ToolCallFormat> = new Map(
  [HERMES, HERMES_THINKING, HERMES_NO_THINKING, GRANITE, CODE_BLOCK].map((toolCallFormat) => [
    toolCallFormat.name,
    toolCallFormat,
  ]),
)

/** Returns the tool-call format with this name. @throws EpisodeError `unknown_tool_call_format`, which lists the known ones */
export function toolCallFormatNamed(name: string): ToolCallFormat {
  const toolCallFormat = TOOL_CALL_FORMATS.get(name)
  if (!toolCallFormat) {
    const known = [...TOOL_CALL_FORMATS.keys()].join(', ')
    throw new EpisodeError('unknown_tool_call_format', `there is no tool-call format ${name}: choose one of ${known}`)
  }
  return toolCallFormat
}

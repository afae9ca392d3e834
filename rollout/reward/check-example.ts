import { type OfferedTool, takesArguments } from '../../servers/kernel/index.js'
import { ExampleError, type ScoredExample } from './types.js'

/**
 * Checks an example before scoring.
 * @returns  the offered tools by name
 * @throws ExampleError
 */
export function checkExample({ offered, groundTruth }: ScoredExample): ReadonlyMap<string, OfferedTool> {
  const tools = new Map(offered.map((tool) => [tool.name, tool]))
  if (tools.size !== offered.length)
    throw new ExampleError('duplicate_tool', 'two offered tools have one name: give each tool its own name')
  groundTruth.forEach((call, i) => {
    if (!call.after.every((j) => Number.isInteger(j) && j >= 0 && j < i)) {
      throw new ExampleError(
        'forward_edge',
        `ground-truth call ${i} must come after calls ${call.after.join(', ')}, which must be earlier calls`,
      )
    }
    const tool = tools.get(call.name)
    if (!tool)
      throw new ExampleError('call_not_offered', `ground-truth call ${i}: the tool ${call.name} is not offered`)
    if (!takesArguments(tool, call.arguments)) {
      throw new ExampleError(
        'call_does_not_fit',
        `ground-truth call ${i}: the arguments do not fit the schema of ${call.name}`,
      )
    }
  })
  return tools
}

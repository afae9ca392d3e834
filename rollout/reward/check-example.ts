import { type OfferedTool, takesArguments } from '../../servers/kernel/index.js'
import { ExampleError, type ScoredExample } from './types.js'

/**
 * Checks that a rollout can be scored against an example at all.
 * @returns  the offered tools by name
 * @throws ExampleError
 */
export function checkExample({ offered, groundTruth }: ScoredExample): ReadonlyMap<string, OfferedTool> {
  const tools = new Map(offered.map((tool) => [tool.name, tool]))
  if (tools.size !== offered.length) throw new ExampleError('duplicate_tool', 'a tool name is offered twice')
  groundTruth.forEach((call, i) => {
    if (!call.after.every((j) => Number.isInteger(j) && j >= 0 && j < i)) {
      throw new ExampleError('forward_edge', `ground-truth call ${i} must come after calls ${call.after.join(', ')}`)
    }
    const tool = tools.get(call.name)
    if (!tool) throw new ExampleError('call_not_offered', `ground-truth call ${i}: ${call.name}`)
    if (!takesArguments(tool, call.arguments)) {
      throw new ExampleError('call_does_not_fit', `ground-truth call ${i}: arguments of ${call.name}`)
    }
  })
  return tools
}

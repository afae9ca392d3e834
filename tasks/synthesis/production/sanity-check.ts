import { type Catalogue, exampleOf, toolsetOf } from '../../../rollout/episode/index.js'
import { type JsonObject, type LoggedCall, PAPER, solvedExactly } from '../../../rollout/reward/index.js'
import { takesArguments } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import type { SanityResult } from '../../dataset/index.js'
import { itemAt } from '../item-at.js'

/** Policy of known quality: returns its calls, or `null` if the policy does not apply to the example. */
type Policy = (example: Example) => readonly Call[] | null
interface Call {
  readonly name: string
  readonly arguments: JsonObject
}

/** Policies that the reward must distinguish: the ground truth, and variants with one error each. */
const POLICIES: readonly (readonly [name: string, policy: Policy])[] = [
  ['the ground truth', ({ task }) => task.groundTruth],
  ['without its last call', ({ task }) => (task.groundTruth.length > 0 ? task.groundTruth.slice(0, -1) : null)],
  ['one value changed', ({ task }) => withChangedValue(task.groundTruth)],
  ['one call before what it needs', ({ task }) => withBrokenOrder(task.groundTruth)],
  ['one call made to another tool', withOtherTool],
  ['a call where none is right', ({ task }) => (task.groundTruth.length === 0 ? [aCall(task)] : null)],
]

const aCall = ({ toolset }: Example['task']): Call => ({ name: itemAt(toolset, 0).tool, arguments: {} })

function withChangedValue(calls: readonly Call[]): Call[] | null {
  const at = calls.findIndex((call) => Object.keys(call.arguments).length > 0)
  if (at < 0) return null
  const call = itemAt(calls, at)
  const [field, value] = itemAt(Object.entries(call.arguments), 0)
  const changed = typeof value === 'number' ? value + 1 : `${JSON.stringify(value)}?`
  return calls.map((each, i) => (i === at ? { ...each, arguments: { ...call.arguments, [field]: changed } } : each))
}

function withBrokenOrder(calls: Example['task']['groundTruth']): Call[] | null {
  const at = calls.findIndex(({ after }) => after.length > 0)
  if (at < 0) return null
  const before = itemAt(itemAt(calls, at).after, 0)
  const rest = calls.filter((_, i) => i !== at)
  return [...rest.slice(0, before), itemAt(calls, at), ...rest.slice(before)]
}

function withOtherTool({ task }: Example): Call[] | null {
  const used = new Set(task.groundTruth.map(({ name }) => name))
  const other = task.toolset.find(({ tool }) => !used.has(tool))
  if (task.groundTruth.length === 0 || !other) return null
  return task.groundTruth.map((call, i) => (i === 0 ? { ...call, name: other.tool } : call))
}

/** Sums the rewards of domain rules of known quality over a data set. */
export interface SanityCheck {
  add(example: Example): void
  finish(): SanityResult[]
  /** Number of examples in which a wrong policy gets the reward of the ground truth. Any but zero is a defect. */
  readonly blind: number
}

export function createSanityCheck(catalogue: Catalogue): SanityCheck {
  const sums = POLICIES.map(([policy]) => ({ policy, examples: 0, reward: 0, solved: 0 }))
  let blind = 0
  return {
    add(example) {
      const scored = exampleOf(example.task, toolsetOf(example.task, catalogue))
      let best = Number.NaN
      for (const [i, [, policy]] of POLICIES.entries()) {
        const calls = policy(example)
        if (!calls) continue
        const log = calls.map((call): LoggedCall => {
          const tool = scored.offered.find(({ name }) => name === call.name)
          return { ...call, ok: tool !== undefined && takesArguments(tool, call.arguments) }
        })
        const { total } = PAPER.score(scored, log)
        if (i === 0) best = total
        else if (!(total < best)) blind++
        const sum = itemAt(sums, i)
        sum.examples++
        sum.reward += total
        sum.solved += solvedExactly(example.task.groundTruth, log) ? 1 : 0
      }
    },
    finish: () =>
      sums
        .filter(({ examples }) => examples > 0)
        .map(({ policy, examples, reward, solved }) => ({
          policy,
          examples,
          meanReward: reward / examples,
          solved: solved / examples,
        })),
    get blind() {
      return blind
    },
  }
}

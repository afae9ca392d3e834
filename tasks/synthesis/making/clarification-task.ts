import type { Task } from '../../../rollout/episode/index.js'
import type { Example } from '../../dataset/example.js'
import { assemble, buildTask } from './assemble.js'
import type { Script } from './conversation-script.js'
import { groundTruthOf, toTell } from './ground-truth.js'
import { firstObjection, type ObjectionName, OF_CONVERSATIONS } from './objections.js'
import { chainName } from './split.js'
import type { ExecutedChain } from './step.js'
import { TODAY } from './today.js'
import type { UnansweredRequest, UnansweredSetting } from './unanswered-request.js'
import type { Worded } from './word-conversation.js'

/** A conversation without calls. */
export function withoutCalls(
  { taken, script: { information }, questions }: UnansweredRequest,
  toolset: Task['toolset'],
  exchanges: Worded['exchanges'],
  { assignment, environmentSeed, context, moment: { persona, random } }: UnansweredSetting,
): Example {
  const task = buildTask(
    {
      kind: 'clarification',
      toolset,
      turns: exchanges.map(({ user }) => user),
      groundTruth: [],
      ...(information === 'missing' ? { questions } : {}),
      chain: chainName(taken.chain),
    },
    { environmentSeed, persona, profile: context.profile, random },
  )
  const worded: Worded = { exchanges, origins: [], turnOf: [] }
  return assemble(assignment, task, { information, recovery: null }, persona, worded, context)
}

export interface DoneInPart {
  readonly script: Script
  readonly worded: Worded
  readonly toolset: Task['toolset']
  /** Where a value is missing: the one that asks for it. */
  readonly questions?: UnansweredRequest['questions']
}

/** A conversation of which the steps are what can be done, unless a filter objects. */
export function inPart(
  { script, worded, toolset, questions }: DoneInPart,
  { chain, open }: ExecutedChain,
  { assignment, environmentSeed, context, moment: { persona, random } }: UnansweredSetting,
): Example | ObjectionName {
  const { profile, catalogue, denotes } = context
  const { steps } = script
  const task = buildTask(
    {
      kind: 'clarification',
      toolset,
      turns: worded.exchanges.map(({ user }) => user),
      groundTruth: groundTruthOf(steps, worded),
      ...toTell(steps, script, worded),
      ...(questions ? { questions } : {}),
      chain: chainName(chain),
    },
    { environmentSeed, persona, profile, random },
  )
  const information = questions ? 'missing' : 'complete'
  const example = assemble(assignment, task, { information, recovery: null }, persona, worded, context)
  return firstObjection(OF_CONVERSATIONS, { example, steps, script, open, catalogue, denotes, today: TODAY }) ?? example
}

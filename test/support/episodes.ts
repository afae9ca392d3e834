import type { AssistantMessage } from '../../rollout/episode/index.js'
import type { JsonObject } from '../../rollout/reward/index.js'
import { createTaskRuntime } from '../../servers/episodes/episode-runtime.js'
import { tasksOf } from '../../servers/episodes/index.js'
import type { Example } from '../../tasks/dataset/index.js'
import { catalogue, makeExamples } from './dataset-examples.js'

/** Shared parts of the tests of episodes: a small data set and the calls of its reference solutions. */

export const examples = makeExamples(15)
export const runtime = createTaskRuntime(catalogue)
export const tasks = tasksOf('A village of tools', new Map([['train', examples.map(({ task }) => task)]]), catalogue)

/** Returns a message with one call. */
export const calling = (name: string, args: JsonObject = {}, text = ''): AssistantMessage => ({
  text,
  calls: [{ name, arguments: args }],
})

/** Returns a message without calls. */
export const saying = (text: string): AssistantMessage => ({ text, calls: [] })

/** Returns the messages of an example's reference solution, with one call at most. */
export const referenceActions = ({ exchanges }: Example): AssistantMessage[] =>
  exchanges.flatMap(({ calls, assistant }) => [
    ...calls.map(({ name, arguments: args }) => calling(name, args)),
    saying(assistant),
  ])

/** Returns the call of a message with one call; null for a message without calls. */
export function callIn({ calls: [call] }: AssistantMessage): { name: string; arguments: JsonObject } | null {
  return call && !call.malformed ? { name: call.name, arguments: call.arguments } : null
}

/** An example whose task has calls and two user turns. */
export const talkative = examples.find(({ task }) => task.turns.length === 2 && task.groundTruth.length === 2)!

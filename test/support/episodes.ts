import { createTaskRuntime } from '../../servers/episodes/episode-runtime.js'
import { tasksOf } from '../../servers/episodes/index.js'
import type { Action } from '../../servers/episodes/play.js'
import type { Example } from '../../tasks/dataset/index.js'
import { catalogue, makeExamples } from './dataset-examples.js'

/** A small data set and its reference solutions, for tests of episodes. */

export const examples = makeExamples(15)
export const runtime = createTaskRuntime(catalogue)
export const tasks = tasksOf('A village of tools', new Map([['train', examples.map(({ task }) => task)]]), catalogue)

/** Returns the actions of the reference solution. */
export const referenceActions = ({ exchanges }: Example): Action[] =>
  exchanges.flatMap(({ calls, assistant }) => [
    ...calls.map(({ name, arguments: args }): Action => ({ type: 'call', name, arguments: args })),
    { type: 'say' as const, text: assistant },
  ])

/** An example whose task has calls and two user turns. */
export const talkative = examples.find(({ task }) => task.turns.length === 2 && task.groundTruth.length === 2)!

import {
  EpisodeError,
  type EpisodeLimits,
  type EpisodeRuntime,
  promptOf,
  type Task,
} from '../../rollout/episode/index.js'
import { offeredTool } from '../../servers/kernel/index.js'
import { ConfigError } from './config.js'

/** Tasks whose prompts are rendered: those with the most text. Rendering all of a large data set takes minutes. */
const RENDERED = 32

/**
 * Returns the first prompt of a task.
 * @throws ConfigError when it is too long for an answer, or when the model's template does not support the tool-call format
 */
export function fittingPrompt(task: Task, runtime: EpisodeRuntime, limits: EpisodeLimits): readonly number[] {
  try {
    return promptOf(task, runtime, limits)
  } catch (cause) {
    if (!(cause instanceof EpisodeError)) throw cause
    if (cause.code === 'bad_template')
      throw new ConfigError(`base.toolCallFormat does not fit the chat template of the base model: ${cause.detail}`, {
        cause,
      })
    throw new ConfigError(`limits.maxRolloutTokens is too small for the tasks: ${cause.message}`, { cause })
  }
}

/**
 * Checks the longest prompts before the run begins. Otherwise a volunteer with a lease for a task whose prompt is too long could
 * only stop.
 * @throws ConfigError
 */
export function checkPromptCapacity(tasks: readonly Task[], runtime: EpisodeRuntime, limits: EpisodeLimits): void {
  for (const task of wordiest(tasks, runtime)) fittingPrompt(task, runtime, limits)
}

/** Returns the tokens of the longest first prompt. */
export const longestPrompt = (tasks: readonly Task[], runtime: EpisodeRuntime): number =>
  wordiest(tasks, runtime).reduce((most, task) => Math.max(most, runtime.prepare(task).prompt.length), 0)

/** Returns the tasks whose prompts have the most text. */
function wordiest(tasks: readonly Task[], runtime: EpisodeRuntime): Task[] {
  const toolSizes = new Map<string, number>()
  const toolSize = (environment: string, tool: string, strip: boolean): number => {
    const key = `${environment} ${tool} ${strip}`
    let size = toolSizes.get(key)
    if (size === undefined) {
      const definition = runtime.catalogue.get(environment)?.toolsByName.get(tool)
      size = definition ? JSON.stringify(offeredTool(definition, strip)).length : 0
      toolSizes.set(key, size)
    }
    return size
  }
  const sizeOf = ({ toolset, stripEnums, system = '', turns }: Task): number =>
    toolset.reduce((sum, { environment, tool }) => sum + toolSize(environment, tool, stripEnums === true), 0) +
    system.length +
    turns[0]!.length
  const bySize = tasks.map((task) => ({ task, size: sizeOf(task) })).sort((a, b) => b.size - a.size)
  return bySize.slice(0, RENDERED).map(({ task }) => task)
}

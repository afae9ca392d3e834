import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { codeOf, type Environment, type OfferedTool, offeredTool } from '../../servers/kernel/index.js'
import type { ScoredExample } from '../reward/index.js'
import { EpisodeError } from './errors.js'
import type { Task } from './task.js'

/** A tool of a task's toolset, with the environment that executes it. */
export interface RoutedTool extends OfferedTool {
  readonly environment: string
  /** Index of the user turn that adds the tool; absent if it is offered from the beginning. */
  readonly from?: number
}

export type Catalogue = ReadonlyMap<string, Environment>

/**
 * Returns the toolset of a task, including tools of later turns.
 * @throws EpisodeError `bad_task` if the catalogue does not have a tool, or the task opens no session of its environment
 */
export function toolsetOf(task: Task, catalogue: Catalogue): RoutedTool[] {
  return task.toolset.map(({ environment, tool, from }) => {
    const definition = catalogue.get(environment)?.toolsByName.get(tool)
    if (!definition) throw new EpisodeError('bad_task', `there is no tool ${tool} in an environment ${environment}`)
    if (!task.environments.some((opened) => opened.environment === environment)) {
      throw new EpisodeError('bad_task', `the task opens no session of ${environment} for ${tool}`)
    }
    if (from !== undefined && from >= task.turns.length)
      throw new EpisodeError(
        'bad_task',
        `the tool ${tool} is added at turn ${from}, but the task has ${task.turns.length} turns`,
      )
    return {
      ...offeredTool(definition, task.stripEnums === true),
      environment,
      ...(from === undefined ? {} : { from }),
    }
  })
}

/** Returns the tools that are offered at the user turn of this index. */
export const offeredAt = <T extends { readonly from?: number | undefined }>(tools: readonly T[], turn: number): T[] =>
  tools.filter(({ from = 0 }) => from <= turn)

/** Whether a task adds tools at later turns. */
export const bringsTools = ({ toolset }: Pick<Task, 'toolset'>): boolean =>
  toolset.some(({ from }) => from !== undefined)

/** Separator between a user's text and the tools that its turn adds, one line of JSON each. */
const NEW_TOOLS = '\n\nThese tools are on offer now, too:\n'

/**
 * Returns the user's turns in the form that the policy reads. A turn that adds tools lists them in OpenAI's form, as chat templates do. An
 * earlier prompt cannot change, so tools are listed where they are added, as in BFCL's multi-turn tasks with missing functions.
 */
export function statedTurns({ turns }: Pick<Task, 'turns'>, tools: readonly RoutedTool[]): string[] {
  return turns.map((words, turn) => {
    const lines = tools
      .filter(({ from }) => from === turn)
      .map(({ name, description, inputSchema }) =>
        JSON.stringify({ type: 'function', function: { name, description, parameters: inputSchema } }),
      )
    return lines.length === 0 ? words : words + NEW_TOOLS + lines.join('\n')
  })
}

/** Returns the user's text of a turn that may add tools. The tools' JSON has no line ends, so it cannot contain the separator. */
export function wordsOfStated(stated: string): string {
  const end = stated.lastIndexOf(NEW_TOOLS)
  return end === -1 ? stated : stated.slice(0, end)
}

/** Returns the part of a task that rewards need. */
export function exampleOf(task: Task, offered: readonly OfferedTool[]): ScoredExample {
  const { groundTruth, system, turns, facts = [], kind } = task
  return {
    offered,
    groundTruth,
    turns,
    asked: facts,
    isGeneral: kind === 'abstention',
    ...(system === undefined ? {} : { system }),
  }
}

/**
 * Returns the SHA-256 (hex) over all offered tools of the environments, and over the code of external environments. Node and coordinator
 * must use the same environments.
 */
export function toolsetSchemaSha256(environments: readonly Environment[]): string {
  const offered = environments.map((environment) => ({
    environment: environment.name,
    tools: environment.tools.map((tool) => offeredTool(tool)),
    ...codeOf(environment),
  }))
  return createHash('sha256').update(canonicalize(offered)!).digest('hex')
}

import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { codeOf, type Environment, type OfferedTool, offeredTool } from '../../servers/kernel/index.js'
import type { ScoredExample } from '../reward/index.js'
import { EpisodeError } from './errors.js'
import type { Task } from './task.js'

/** A tool of a task's toolset and the server that executes it. */
export interface RoutedTool extends OfferedTool {
  readonly environment: string
  /** Index of the user turn that brings it; absent where it is there from the beginning. */
  readonly from?: number
}

export type Catalogue = ReadonlyMap<string, Environment>

/**
 * The toolset of a task, as shown to the policy; those that come later included.
 * @throws EpisodeError `bad_task` when the catalogue does not have a tool, or the task opens no session for its server
 */
export function toolsetOf(task: Task, catalogue: Catalogue): RoutedTool[] {
  return task.toolset.map(({ environment, tool, from }) => {
    const definition = catalogue.get(environment)?.toolsByName.get(tool)
    if (!definition) throw new EpisodeError('bad_task', `there is no tool ${tool} on a server ${environment}`)
    if (!task.environments.some((opened) => opened.environment === environment)) {
      throw new EpisodeError('bad_task', `the task opens no session of ${environment} for ${tool}`)
    }
    if (from !== undefined && from >= task.turns.length)
      throw new EpisodeError('bad_task', `${tool} comes with turn ${from}, which there is not`)
    return {
      ...offeredTool(definition, task.stripEnums === true),
      environment,
      ...(from === undefined ? {} : { from }),
    }
  })
}

/** What is on offer when the user's turn of this index has been said. */
export const offeredAt = <T extends { readonly from?: number | undefined }>(tools: readonly T[], turn: number): T[] =>
  tools.filter(({ from = 0 }) => from <= turn)

/** Whether some tools of a task are on offer only later. */
export const bringsTools = ({ toolset }: Pick<Task, 'toolset'>): boolean =>
  toolset.some(({ from }) => from !== undefined)

/** What stands between the words of a user and the tools that come with them, one line of JSON each. */
const NEW_TOOLS = '\n\nThese tools are on offer now, too:\n'

/**
 * The user's turns as the policy reads them: those that bring tools tell them as chat templates write them, in OpenAI's form. A prompt
 * cannot be changed once it was read, so what comes later is told where it comes, as BFCL's multi-turn tasks with missing functions do.
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

/** What the user said of a turn that brings tools: the JSON that tells them has no line ends, so the mark cannot stand in it. */
export function wordsOfStated(stated: string): string {
  const end = stated.lastIndexOf(NEW_TOOLS)
  return end === -1 ? stated : stated.slice(0, end)
}

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
 * SHA-256 (hex) over every tool of the servers as it is offered, and over the code of those from outside this package: a node and its
 * judge must play in the same worlds.
 */
export function toolsetSchemaSha256(environments: readonly Environment[]): string {
  const offered = environments.map((environment) => ({
    environment: environment.name,
    tools: environment.tools.map((tool) => offeredTool(tool)),
    ...codeOf(environment),
  }))
  return createHash('sha256').update(canonicalize(offered)!).digest('hex')
}

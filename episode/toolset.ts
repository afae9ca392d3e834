import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { ScoredExample } from '../reward/index.js'
import { codeOf, type OfferedTool, offeredTool, type ServerDefinition } from '../servers/kernel/index.js'
import { EpisodeError } from './errors.js'
import type { Task } from './task.js'

/** A tool of a task's toolset and the server that executes it. */
export interface RoutedTool extends OfferedTool {
  readonly server: string
}

export type Catalogue = ReadonlyMap<string, ServerDefinition>

/**
 * The toolset of a task, as shown to the policy.
 * @throws EpisodeError `bad_task` when the catalogue does not have a tool, or the task opens no session for its server
 */
export function toolsetOf(task: Task, catalogue: Catalogue): RoutedTool[] {
  return task.toolset.map(({ server, tool }) => {
    const definition = catalogue.get(server)?.toolsByName.get(tool)
    if (!definition) throw new EpisodeError('bad_task', `there is no tool ${tool} on a server ${server}`)
    if (!task.worlds.some((world) => world.server === server)) {
      throw new EpisodeError('bad_task', `the task opens no session of ${server} for ${tool}`)
    }
    return { ...offeredTool(definition, task.stripEnums === true), server }
  })
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
export function toolsetSchemaSha256(servers: readonly ServerDefinition[]): string {
  const offered = servers.map((server) => ({
    server: server.name,
    tools: server.tools.map((tool) => offeredTool(tool)),
    ...codeOf(server),
  }))
  return createHash('sha256').update(canonicalize(offered)!).digest('hex')
}

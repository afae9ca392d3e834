import { nameTask, type Task } from '../episode/index.js'
import { type Json, type JsonObject, score, solvedExactly } from '../reward/index.js'
import {
  type DependencyGraph,
  dependencyGraph,
  offeredTool,
  type SeededRandom,
  type ServerDefinition,
  type WorldCache,
} from '../servers/kernel/index.js'
import { bindArguments, type ExecutedStep } from './bind.js'
import type { Chain } from './chains.js'
import { clauseFor, userTurn } from './verbalise.js'

export interface TaskSettings {
  /** Tools on offer: those of the chain and distractors up to this many. */
  readonly minTools: number
  readonly maxTools: number
  /** Chance that the request comes in two user turns instead of one. */
  readonly secondTurn: number
}

export const DEFAULT_TASK_SETTINGS: TaskSettings = { minTools: 4, maxTools: 6, secondTurn: 0.3 }

interface Step extends ExecutedStep {
  readonly arguments: JsonObject
  readonly clause: string
}

/**
 * Makes one task from a chain: samples arguments from the live state of a session, executes every call as it goes,
 * puts the calls into a user's words, and replays the result on a fresh session before it is kept.
 * @returns `null` when this world has nothing that fits the chain; try another seed
 */
export function makeTask(
  chain: Chain,
  worldSeed: number,
  servers: readonly ServerDefinition[],
  worlds: WorldCache,
  random: SeededRandom,
  settings: TaskSettings = DEFAULT_TASK_SETTINGS,
): Task | null {
  const { server } = chain
  const graph = dependencyGraph(server)
  const steps = walk(chain, graph, worldSeed, worlds, random)
  if (!steps) return null
  const split = random.chance(settings.secondTurn) ? random.int(1, steps.length - 1) : steps.length
  const turns = [steps.slice(0, split), steps.slice(split)]
    .filter((part) => part.length > 0)
    .map((part, i) =>
      userTurn(
        part.map(({ clause }) => clause),
        i === 0,
        random,
      ),
    )
  const task = nameTask({
    kind: 'multi-turn',
    ...chooseToolset(chain, worldSeed, servers, random, settings),
    turns,
    groundTruth: steps.map(({ tool, arguments: args }, i) => ({
      name: tool,
      arguments: args,
      after: prerequisitesOf(graph, steps, i),
      turn: i < split ? 0 : 1,
    })),
    chain: chain.name,
  })
  return replays(task, server, worldSeed, worlds, steps) ? task : null
}

function walk(
  { server, tools }: Chain,
  graph: DependencyGraph,
  worldSeed: number,
  worlds: WorldCache,
  random: SeededRandom,
): Step[] | null {
  const session = worlds.open(server, worldSeed)
  const steps: Step[] = []
  for (const name of tools) {
    const tool = server.toolsByName.get(name)!
    const previous = steps.at(-1)
    const bindings = previous ? bindArguments(server, graph, previous, name, random) : []
    if (!bindings) return null
    const bound = Object.fromEntries(bindings.map(({ field, key }) => [field, key]))
    const args = session.sampleArguments(tool, random, bound)
    if (!args || Object.entries(bound).some(([field, key]) => args[field] !== key)) return null
    const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))
    const result = session.call(name, given)
    if (!result.ok) return null
    const phrases = new Map(bindings.map(({ field, phrase }) => [field, phrase]))
    const clause = clauseFor(tool, given, phrases, random)
    if (clause === undefined) return null
    steps.push({ tool: name, arguments: given as Record<string, Json>, output: result.output, clause })
  }
  return steps
}

/**
 * Indices of the calls that must come before call `i`: for every tool with an edge to it, the nearest earlier call of
 * that tool (reward specification, section 1).
 */
function prerequisitesOf(graph: DependencyGraph, steps: readonly ExecutedStep[], i: number): number[] {
  const names = graph.prerequisites(steps[i]!.tool)
  const nearest = new Map(steps.slice(0, i).map(({ tool }, j) => [tool, j]))
  return [...nearest].filter(([tool]) => names.has(tool)).map(([, j]) => j)
}

function chooseToolset(
  { server, tools }: Chain,
  worldSeed: number,
  servers: readonly ServerDefinition[],
  random: SeededRandom,
  { minTools, maxTools }: TaskSettings,
): Pick<Task, 'worlds' | 'toolset'> {
  const wanted = Math.max(tools.length, random.int(minTools, maxTools)) - tools.length
  const own = server.tools
    .filter(({ name }) => !tools.includes(name))
    .map(({ name }) => ({ server: server.name, tool: name }))
  const taken = new Set(server.tools.map(({ name }) => name))
  const others = servers
    .filter((other) => other !== server)
    .flatMap((other) =>
      other.tools.filter(({ name }) => !taken.has(name)).map(({ name }) => ({ server: other.name, tool: name })),
    )
  const foreign = others.length > 0 && wanted > 0 && random.chance(0.4) ? random.sample(others, 1) : []
  const distractors = [...foreign, ...random.sample(own, wanted - foreign.length)]
  const toolset = random.shuffle([...tools.map((tool) => ({ server: server.name, tool })), ...distractors])
  const names = new Set(toolset.map((tool) => tool.server))
  return { worlds: [...names].sort().map((name) => ({ server: name, seed: worldSeed })), toolset }
}

/** Executes the ground truth on a fresh session: the same results, the full reward, or the task is not kept. */
function replays(
  task: Task,
  server: ServerDefinition,
  worldSeed: number,
  worlds: WorldCache,
  steps: readonly Step[],
): boolean {
  const session = worlds.open(server, worldSeed)
  const log = task.groundTruth.map((call, i) => {
    const result = session.call(call.name, call.arguments)
    const same = result.ok && JSON.stringify(result.output) === JSON.stringify(steps[i]!.output)
    return { name: call.name, arguments: call.arguments, ok: same }
  })
  const offered = task.groundTruth.map(({ name }) => name)
  const tools = [...new Set(offered)].map((name) => offeredTool(server.toolsByName.get(name)!))
  const { total } = score({ offered: tools, groundTruth: task.groundTruth }, log)
  return log.every(({ ok }) => ok) && total === 1.3 && solvedExactly(task.groundTruth, log)
}

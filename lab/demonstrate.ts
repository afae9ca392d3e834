import { closingOf, groundTruthScript, type Task, type ToolCallFormat } from '../rollout/episode/index.js'
import type { JsonObject } from '../rollout/reward/index.js'
import type { Environment, SeededRandom } from '../servers/kernel/index.js'

/**
 * How often a demonstrator errs, per ground-truth call. Real pretraining data mixes good and bad habits; a base model
 * that has seen both has something for reinforcement learning to choose between. Faults are chosen independently.
 */
export interface Flaws {
  /** Ends the turn without making the remaining calls. */
  readonly stopEarly: number
  /** Calls another offered tool first. */
  readonly strayCall: number
  /** Makes the same call twice. */
  readonly repeat: number
  /** Breaks off the JSON of a call. */
  readonly malformed: number
}

export const NO_FLAWS: Flaws = { stopEarly: 0, strayCall: 0, repeat: 0, malformed: 0 }

/** The assistant messages of a demonstration by a teacher with the given flaws. */
export function demonstrate(
  task: Task,
  toolCallFormat: ToolCallFormat,
  flaws: Flaws,
  environments: readonly Environment[],
  random: SeededRandom,
): string[] {
  return task.turns.flatMap((_, turn) => [
    ...messagesOf(task, turn, toolCallFormat, flaws, environments, random),
    closingOf(task, turn),
  ])
}

function messagesOf(
  task: Task,
  turn: number,
  toolCallFormat: ToolCallFormat,
  flaws: Flaws,
  environments: readonly Environment[],
  random: SeededRandom,
): string[] {
  const messages: string[] = []
  for (const call of task.groundTruth.filter((candidate) => candidate.turn === turn)) {
    if (random.chance(flaws.stopEarly)) return messages
    const text = toolCallFormat.writeCall(call.name, call.arguments)
    if (random.chance(flaws.strayCall))
      messages.push(strayCall(task, toolCallFormat, call.arguments, environments, random))
    if (random.chance(flaws.malformed)) messages.push(toolCallFormat.writeBrokenCall(call.name, call.arguments))
    messages.push(text)
    if (random.chance(flaws.repeat)) messages.push(text)
  }
  return messages
}

/** A call to some offered tool the task has no use for, with values lifted from the call that was due. */
function strayCall(
  task: Task,
  toolCallFormat: ToolCallFormat,
  due: JsonObject,
  environments: readonly Environment[],
  random: SeededRandom,
): string {
  const useful = new Set(task.groundTruth.map(({ name }) => name))
  const strays = task.toolset.filter(({ tool }) => !useful.has(tool))
  if (strays.length === 0) return groundTruthScript(task, toolCallFormat)[0]!
  const { environment, tool } = random.pick(strays)
  const shape = environments.find(({ name }) => name === environment)!.toolsByName.get(tool)!.input.shape
  const values = Object.values(due)
  const required = Object.entries(shape).filter(([, schema]) => !schema.isOptional())
  return toolCallFormat.writeCall(
    tool,
    Object.fromEntries(required.map(([field], i) => [field, values[i % values.length] ?? ''])),
  )
}

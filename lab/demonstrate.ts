import { closingOf, groundTruthScript, type Task, type ToolCallFormat } from '../rollout/episode/index.js'
import type { JsonObject } from '../rollout/reward/index.js'
import type { Environment, SeededRandom } from '../servers/kernel/index.js'

/**
 * Probabilities of errors per ground-truth call. The errors are independent. A base model that has seen correct and incorrect
 * demonstrations leaves reinforcement learning something to improve.
 */
export interface Flaws {
  /** Ends the turn without making the remaining calls. */
  readonly stopEarly: number
  /** Calls another offered tool first. */
  readonly strayCall: number
  /** Makes the same call twice. */
  readonly repeat: number
  /** Truncates the JSON of a call. */
  readonly malformed: number
}

/** Returns the assistant messages of a demonstration: the reference solution with random errors. */
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

/** Returns a call to an offered tool that the task does not need, with argument values of the due call. */
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

import { join } from 'node:path'
import {
  asksFor,
  type Catalogue,
  closingOf,
  digestsOf,
  EpisodeError,
  exampleOf,
  hashesOf,
  offeredAt,
  openSessions,
  type RoutedTool,
  statesAtEnd,
  type Task,
  toolsetOf,
} from '../../rollout/episode/index.js'
import {
  type AssistantText,
  ExampleError,
  type LoggedCall,
  REWARD_PRESETS,
  type RolloutFacts,
} from '../../rollout/reward/index.js'
import {
  connectInProcess,
  type McpConnection,
  type SeedStateCache,
  type Session,
  takesArguments,
} from '../../servers/kernel/index.js'
import { answerWords } from './answer-words.js'
import { domainRulesProblem } from './domain-rules-kept.js'
import { ExampleMismatch, type MismatchCode } from './errors.js'
import type { Example, ReferenceCall } from './example.js'
import { checkFile, parquetPath, recordsPath } from './manifest.js'
import { checkProfiles } from './policy-profiles.js'
import { SPLITS } from './profile.js'
import { type Dataset, readExamples } from './read.js'
import { lineOf, recordOf } from './record.js'

/** Characters of an excerpt in a message. */
const EXCERPT = 160

/**
 * Replays an example in fresh sessions. Every reference call over MCP must give the same bytes, including failures. The successful calls
 * must be the ground truth in order, and the ground truth must get the maximum reward of every preset.
 * @throws ExampleMismatch at the first difference
 */
export async function verifyExample(
  example: Example,
  catalogue: Catalogue,
  seedStates: SeedStateCache,
  signal: AbortSignal,
): Promise<void> {
  const { task } = example
  const refuse: Refuse = (code, problem) => {
    throw new ExampleMismatch(code, task.id, problem)
  }
  checkTurns(example, refuse)
  checkGroundTruth(example, refuse)
  const offered = ofTask(() => toolsetOf(task, catalogue), refuse)
  const sessions = ofTask(() => openSessions(task, catalogue, seedStates), refuse)
  const connections = new Map<string, McpConnection>()
  try {
    const log: LoggedCall[] = []
    const turns: number[] = []
    const results: string[] = []
    const said: AssistantText[] = []
    let number = 0
    for (const [turn, { calls }] of example.exchanges.entries()) {
      for (const call of calls) {
        await replay(call, number++, { offered: offeredAt(offered, turn), sessions, connections }, refuse, signal)
        if (call.truth === null) continue
        log.push({ name: call.name, arguments: call.arguments, ok: call.ok })
        turns.push(turn)
        results.push(call.response)
      }
      said.push({ turn, calls: log.length, isAnswer: true, text: closingOf(task, turn) })
    }
    const expected = ofTask(() => statesAtEnd(task, catalogue, seedStates), refuse)
    const states = digestsOf(expected, hashesOf(sessions))
    checkReward(task, offered, log, { states, turns, results, said }, refuse)
    checkWords(example, offered, refuse)
    checkDomainRules(example, catalogue, seedStates, refuse)
  } finally {
    await Promise.all([...connections.values()].map((connection) => connection.close()))
  }
}

type Refuse = (code: MismatchCode, problem: string) => never

function checkTurns({ task, exchanges }: Example, refuse: Refuse): void {
  if (exchanges.length !== task.turns.length)
    refuse('other_turns', `${exchanges.length} exchanges for ${task.turns.length} user turns`)
  exchanges.forEach(({ user }, i) => {
    if (user !== task.turns[i]) refuse('other_turns', `turn ${i}: ${difference(task.turns[i]!, user)}`)
  })
  for (const { turn, words } of task.questions ?? []) {
    if (!asksFor(exchanges[turn]?.assistant ?? '', words))
      refuse('not_asked', `turn ${turn}: the assistant does not ask for the missing value`)
  }
}

/** Checks that successful calls are the ground truth, in order and in the right turns, and that the others failed. */
function checkGroundTruth({ task, exchanges, origins }: Example, refuse: Refuse): void {
  let next = 0
  for (const [turn, { calls }] of exchanges.entries()) {
    for (const call of calls) {
      if (call.ok !== (call.truth !== null))
        refuse(
          'other_ground_truth',
          `${call.name} ${call.ok ? 'succeeded and is not part of' : 'failed and is part of'} the ground truth`,
        )
      if (call.truth === null) continue
      const truth = task.groundTruth[next]
      if (call.truth !== next || !truth) throw refuse('other_ground_truth', `call ${call.truth} has position ${next}`)
      if (turn !== truth.turn) refuse('other_ground_truth', `call ${next} belongs to turn ${truth.turn}, not ${turn}`)
      const [expected, made] = [
        JSON.stringify([truth.name, truth.arguments]),
        JSON.stringify([call.name, call.arguments]),
      ]
      if (expected !== made) refuse('other_ground_truth', `call ${next}: ${difference(expected, made)}`)
      next++
    }
  }
  if (next !== task.groundTruth.length)
    refuse('other_ground_truth', `the example has ${next} of ${task.groundTruth.length} ground-truth calls`)
  if (origins.length !== next) refuse('other_ground_truth', `origins for ${origins.length} of ${next} calls`)
}

/** Reads a part of a task. Reports an invalid task as `bad_task`. */
function ofTask<T>(read: () => T, refuse: Refuse): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof EpisodeError) return refuse('bad_task', cause.message)
    throw cause
  }
}

/** State of a replay. */
interface Replay {
  readonly offered: readonly RoutedTool[]
  readonly sessions: ReadonlyMap<string, Session>
  readonly connections: Map<string, McpConnection>
}

async function replay(
  call: ReferenceCall,
  number: number,
  { offered, sessions, connections }: Replay,
  refuse: Refuse,
  signal: AbortSignal,
): Promise<void> {
  const tool = offered.find(({ name, environment }) => name === call.name && environment === call.environment)
  if (!tool || !takesArguments(tool, call.arguments))
    return refuse('bad_task', `call ${number}: ${call.environment} does not offer ${call.name} with these arguments`)
  let connection = connections.get(call.environment)
  if (!connection) {
    connection = await connectInProcess(sessions.get(call.environment)!)
    connections.set(call.environment, connection)
  }
  const { ok, text } = await connection.callTool(call.name, { ...call.arguments }, signal)
  if (text !== call.response)
    refuse('other_response', `call ${number}, ${call.name}: ${difference(text, call.response)}`)
  if (ok !== call.ok) refuse('other_response', `call ${number}, ${call.name}: it ${ok ? 'succeeds' : 'fails'} now`)
}

/** Checks that the reference solution follows the domain rules. */
function checkDomainRules(example: Example, catalogue: Catalogue, seedStates: SeedStateCache, refuse: Refuse): void {
  const problem = example.domainRules && domainRulesProblem(example, catalogue, seedStates)
  if (problem !== undefined) refuse('other_domain_rules', problem)
}

/** Checks that the reference answers state the required facts and no value without a source. */
function checkWords(example: Example, offered: readonly RoutedTool[], refuse: Refuse): void {
  const { stated, invented } = answerWords(example, offered)
  if (stated < 1) refuse('other_words', `the answers state ${Math.round(100 * stated)} % of the required facts`)
  if (invented.size > 0)
    refuse('other_words', `the answers contain values without a source: ${[...invented].join(', ').slice(0, 200)}`)
}

function checkReward(
  task: Task,
  offered: readonly RoutedTool[],
  log: readonly LoggedCall[],
  facts: RolloutFacts,
  refuse: Refuse,
): void {
  try {
    for (const { name, maximum, score } of REWARD_PRESETS.values()) {
      const highest = task.groundTruth.length === 0 ? maximum.noCall : maximum.calls
      const { total } = score(exampleOf(task, offered), log, facts)
      if (total !== highest) refuse('other_reward', `${name}: the ground truth gets ${total} instead of ${highest}`)
    }
  } catch (cause) {
    if (cause instanceof ExampleError) refuse('bad_task', cause.message)
    throw cause
  }
}

/** Describes the first difference of two texts. */
function difference(expected: string, found: string): string {
  let at = 0
  while (at < expected.length && expected[at] === found[at]) at++
  const from = Math.max(0, at - 20)
  const excerpt = (text: string): string => JSON.stringify(text.slice(from, from + EXCERPT))
  return `from character ${at} on, expected ${excerpt(expected)}, found ${excerpt(found)}`
}

export interface Verified {
  readonly examples: number
  readonly calls: number
}

/**
 * Verifies every example of a file of records, and that each line equals, byte for byte, the record of its example.
 * @throws DatasetError if the file cannot be read; ExampleMismatch with file and line at the first example that does not reproduce
 */
export async function verifyFile(
  path: string,
  catalogue: Catalogue,
  seedStates: SeedStateCache,
  signal: AbortSignal,
): Promise<Verified> {
  let [examples, calls] = [0, 0]
  for await (const { example, line } of readExamples(path, signal)) {
    try {
      await verifyExample(example, catalogue, seedStates, signal)
      const written = lineOf(recordOf(example, catalogue))
      if (written !== line.text)
        throw new ExampleMismatch('other_record', example.task.id, difference(written, line.text))
    } catch (cause) {
      if (!(cause instanceof ExampleMismatch)) throw cause
      throw new ExampleMismatch(cause.code, cause.task, cause.problem, line.where)
    }
    examples++
    calls += example.exchanges.reduce((sum, exchange) => sum + exchange.calls.length, 0)
  }
  return { examples, calls }
}

/**
 * Verifies every split of a data set, the hashes of its Parquet files, and the profiles of policies with their table in the card.
 * @throws the errors of `verifyFile`
 */
export async function verifyDataset(
  dataset: Dataset,
  catalogue: Catalogue,
  seedStates: SeedStateCache,
  signal: AbortSignal,
): Promise<Verified> {
  const { folder, manifest } = dataset
  let [examples, calls] = [0, 0]
  for (const split of SPLITS) await checkFile(folder, manifest, parquetPath(split), signal)
  await checkProfiles(dataset)
  for (const split of SPLITS) {
    const verified = await verifyFile(join(folder, recordsPath(split)), catalogue, seedStates, signal)
    examples += verified.examples
    calls += verified.calls
  }
  return { examples, calls }
}

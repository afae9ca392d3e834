import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { SampledTurn, Token, TokenSource } from '../engine/types.js'
import { isExecutable, type LoggedCall, score, solvedExactly } from '../reward/index.js'
import { type ConnectionPool, createConnectionPool, type McpConnection, type Session } from '../servers/kernel/index.js'
import { type ParsedCall, parseCalls } from './dialect.js'
import { EpisodeError } from './errors.js'
import type { EpisodeLimits } from './limits.js'
import type { EpisodeEnd, Rollout } from './rollout.js'
import type { Stage } from './stage.js'
import type { Task } from './task.js'
import { exampleOf, type RoutedTool, toolsetOf } from './toolset.js'

/** What all rollouts of a task begin with. */
interface Opening {
  readonly offered: readonly RoutedTool[]
  readonly prompt: readonly Token[]
}

/** What a stage keeps from one episode to the next. */
interface Backstage {
  readonly openings: LRUCache<Task, Opening>
  readonly connections: ConnectionPool
}

/** Tasks whose openings are kept: rendering one costs more than playing a rollout, and a group has many. */
const KEPT_OPENINGS = 32
const backstages = new WeakMap<Stage, Backstage>()

function backstageOf(stage: Stage): Backstage {
  let backstage = backstages.get(stage)
  if (!backstage) {
    backstage = { openings: new LRUCache({ max: KEPT_OPENINGS }), connections: createConnectionPool() }
    backstages.set(stage, backstage)
  }
  return backstage
}

function openingOf(task: Task, stage: Stage, limits: EpisodeLimits): Opening {
  const { openings } = backstageOf(stage)
  let opening = openings.get(task)
  if (!opening) {
    const offered = toolsetOf(task, stage.catalogue)
    opening = { offered, prompt: stage.renderer.firstPrompt(offered, task.turns[0]!, task.system) }
    openings.set(task, opening)
  }
  const { length } = opening.prompt
  if (length >= limits.maxRolloutTokens) {
    throw new EpisodeError('prompt_too_long', `${length} of ${limits.maxRolloutTokens} tokens`)
  }
  return opening
}

/** The first prompt of a task, in token ids. @throws EpisodeError */
export function promptOf(task: Task, stage: Stage, limits: EpisodeLimits): readonly Token[] {
  return openingOf(task, stage, limits).prompt
}

/**
 * Plays one conversation between a policy and its worlds and scores it. The policy's tokens come from `source`: the
 * live engine on a node, the recorded body at the coordinator. So judging replays a rollout through the very code that
 * made it. The source is closed when the episode ends, however it ends.
 * @throws EpisodeError for a bad task; whatever the source or the MCP connection throws. The rollout is then void.
 */
export async function runEpisode(
  task: Task,
  source: TokenSource,
  stage: Stage,
  limits: EpisodeLimits,
  signal: AbortSignal,
): Promise<Rollout> {
  const worlds = new Map<string, OpenWorld>()
  try {
    const { offered, prompt } = openingOf(task, stage, limits)
    await openWorlds(task, stage, worlds)
    const transcript = createTranscript(prompt)
    const calls: LoggedCall[] = []
    const responses: string[] = []
    const end = await converse(task, source, stage, limits, { offered, worlds, transcript, calls, responses }, signal)
    return {
      ...transcript.finish(),
      calls,
      responses,
      stateHash: hashStates(worlds),
      end,
      reward: score(exampleOf(task, offered), calls),
      solved: solvedExactly(task.groundTruth, calls),
    }
  } finally {
    await Promise.all([source.close(), ...[...worlds.values()].map(({ connection }) => connection.close())])
  }
}

interface OpenWorld {
  readonly session: Session
  readonly connection: McpConnection
}

/** Fills `opened`, so that the caller can close what was opened when a later world cannot be. */
async function openWorlds(task: Task, stage: Stage, opened: Map<string, OpenWorld>): Promise<void> {
  const { catalogue, worlds } = stage
  const { connections } = backstageOf(stage)
  for (const { server, seed } of task.worlds) {
    const definition = catalogue.get(server)
    if (!definition || opened.has(server)) throw new EpisodeError('bad_task', `unknown or repeated server ${server}`)
    const session = worlds.open(definition, seed)
    opened.set(server, { session, connection: await connections.connect(session) })
  }
}

function hashStates(worlds: ReadonlyMap<string, OpenWorld>): string {
  const states = [...worlds].map(([server, { session }]) => [server, session.stateHash()])
  return createHash('sha256').update(JSON.stringify(states)).digest('hex')
}

interface Progress {
  readonly offered: readonly RoutedTool[]
  readonly worlds: ReadonlyMap<string, OpenWorld>
  readonly transcript: Transcript
  readonly calls: LoggedCall[]
  readonly responses: string[]
}

async function converse(
  task: Task,
  source: TokenSource,
  { tokenizer, renderer }: Stage,
  limits: EpisodeLimits,
  { offered, worlds, transcript, calls, responses }: Progress,
  signal: AbortSignal,
): Promise<EpisodeEnd> {
  let feed: Token[] = []
  let userTurns = 1
  for (let turn = 0; turn < limits.maxAssistantTurns; turn++) {
    const room = limits.maxRolloutTokens - transcript.length - feed.length
    if (room < 1) return 'rollout_length'
    const sampled = await source.next(feed, Math.min(limits.maxTurnTokens, room), signal)
    transcript.append(feed, sampled)
    const parsed = parseCalls(tokenizer.detokenize(sampled.tokens))
    const payloads: string[] = []
    for (const call of parsed) {
      if (calls.length === limits.maxCalls) return 'call_limit'
      const { entry, payload } = await execute(call, offered, worlds, signal)
      calls.push(entry)
      responses.push(payload)
      payloads.push(payload)
    }
    if (sampled.stop === 'length') return room > limits.maxTurnTokens ? 'turn_length' : 'rollout_length'
    if (payloads.length > 0) {
      feed = renderer.toolResponses(payloads)
    } else {
      const text = task.turns[userTurns++]
      if (text === undefined) return 'finished'
      feed = renderer.userTurn(text)
    }
  }
  return 'turn_limit'
}

/** Executes a call that passes validity levels 1 and 2; answers any other with an error the policy can read. */
async function execute(
  call: ParsedCall,
  offered: readonly RoutedTool[],
  worlds: ReadonlyMap<string, OpenWorld>,
  signal: AbortSignal,
): Promise<{ entry: LoggedCall; payload: string }> {
  if (call.malformed) return { entry: call, payload: refusal('malformed_call', 'The call block could not be read.') }
  const entry = { name: call.name, arguments: call.arguments, ok: false }
  const tool = offered.find(({ name }) => name === call.name)
  if (!tool) return { entry, payload: refusal('unknown_tool', 'There is no such tool.') }
  if (!isExecutable(entry, tool)) return { entry, payload: refusal('invalid_arguments', 'The arguments do not fit.') }
  const { connection } = worlds.get(tool.server)!
  const { ok, text } = await connection.callTool(call.name, { ...call.arguments }, signal)
  return { entry: { ...entry, ok }, payload: text }
}

const refusal = (error: string, message: string): string => JSON.stringify({ error, message })

interface Transcript {
  readonly length: number
  append(feed: readonly Token[], sampled: SampledTurn): void
  finish(): Pick<Rollout, 'tokens' | 'promptLength' | 'mask' | 'logprobs'>
}

function createTranscript(prompt: readonly Token[]): Transcript {
  const tokens = [...prompt]
  /** Where the sampled turns lie in `tokens`. */
  const turns: (readonly [start: number, end: number])[] = []
  const logprobs: number[] = []
  return {
    get length() {
      return tokens.length
    },
    append(feed, sampled) {
      tokens.push(...feed)
      const start = tokens.length
      tokens.push(...sampled.tokens)
      turns.push([start, tokens.length])
      logprobs.push(...sampled.logprobs)
    },
    finish() {
      const mask = new Uint8Array(tokens.length)
      for (const [start, end] of turns) mask.fill(1, start, end)
      return { tokens, promptLength: prompt.length, mask, logprobs }
    },
  }
}

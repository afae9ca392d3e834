import type { McpConnection } from '../../servers/kernel/index.js'
import type { SampledTurn, Token, TokenSource } from '../engine/types.js'
import {
  type AssistantText,
  type LoggedCall,
  type RewardBreakdown,
  type RewardPreset,
  type RolloutFacts,
  solvedExactly,
} from '../reward/index.js'
import { digestsOf, hashesOf, openSessions, statesHash } from './environment-states.js'
import type { EpisodeRuntime, PreparedTask } from './episode-runtime.js'
import { EpisodeError } from './errors.js'
import { executeCall } from './execute-call.js'
import type { EpisodeLimits } from './limits.js'
import type { EpisodeEnd, Rollout } from './rollout.js'
import { INITIAL_USER_STATE, replyOf, type UserReply } from './scripted-user.js'
import type { Task } from './task.js'
import { exampleOf, type RoutedTool } from './toolset.js'
import {
  type AskingMessage,
  askingMessage,
  type MessageInterpreter,
  type UnderstoodMessage,
  understoodByRules,
} from './understood-message.js'

/** Returns the first prompt of a task, in token ids. @throws EpisodeError, also `prompt_too_long` */
export function promptOf(task: Task, runtime: EpisodeRuntime, limits: EpisodeLimits): readonly Token[] {
  return prepare(task, runtime, limits).prompt
}

function prepare(task: Task, runtime: EpisodeRuntime, limits: EpisodeLimits): PreparedTask {
  const prepared = runtime.prepare(task)
  const { length } = prepared.prompt
  if (length >= limits.maxRolloutTokens) {
    throw new EpisodeError(
      'prompt_too_long',
      `the prompt has ${length} tokens, a rollout at most ${limits.maxRolloutTokens}`,
    )
  }
  return prepared
}

/** Whether a task's first prompt leaves tokens for an answer. @throws EpisodeError for any other fault of the task */
export function hasCapacity(task: Task, runtime: EpisodeRuntime, limits: EpisodeLimits): boolean {
  try {
    promptOf(task, runtime, limits)
    return true
  } catch (error) {
    if (error instanceof EpisodeError && error.code === 'prompt_too_long') return false
    throw error
  }
}

/** A rollout that was played, with a function to score it by any reward. */
export interface PlayedEpisode {
  readonly rollout: Omit<Rollout, 'reward'>
  /** Interpretations of the messages that had to ask for something, in order. */
  readonly understood: readonly UnderstoodMessage[]
  /** Scores the rollout. @throws EpisodeError `bad_task` if the reward needs the ground truth's final state and a call of it fails */
  score(reward: RewardPreset): RewardBreakdown
}

/** Plays one conversation and scores it by the runtime's reward, see `playEpisode`. */
export async function runEpisode(
  task: Task,
  source: TokenSource,
  runtime: EpisodeRuntime,
  limits: EpisodeLimits,
  signal: AbortSignal,
): Promise<Rollout> {
  const { rollout, score } = await playEpisode(task, source, runtime, limits, signal)
  return { ...rollout, reward: score(runtime.reward) }
}

/**
 * Plays one conversation between a policy and its environments. The policy's tokens come from `source`: the engine on a node, or the
 * recorded body at the coordinator. So verification replays a rollout through the code that made it. The source is closed at the end of
 * the episode, also after an error.
 * @param userSimulator  decides instead of the rules whether messages ask for something; rollouts of a swarm and their verification
 *                       use the rules
 * @throws EpisodeError for a bad task; the errors of the source and the MCP connection. The rollout is then void.
 */
export async function playEpisode(
  task: Task,
  source: TokenSource,
  runtime: EpisodeRuntime,
  limits: EpisodeLimits,
  signal: AbortSignal,
  userSimulator?: MessageInterpreter,
): Promise<PlayedEpisode> {
  const connections = new Map<string, McpConnection>()
  try {
    const { offered, turns: stated, prompt, expected } = prepare(task, runtime, limits)
    const sessions = openSessions(task, runtime.catalogue, runtime.seedStates)
    for (const [environment, session] of sessions)
      connections.set(environment, await runtime.connections.connect(session))
    const transcript = createTranscript(prompt)
    const calls: LoggedCall[] = []
    const turns: number[] = []
    const responses: string[] = []
    const said: SaidTokens[] = []
    const understood: UnderstoodMessage[] = []
    const progress = { offered, connections, transcript, calls, turns, responses, said, understood }
    const understand: Understand = async (message) =>
      userSimulator ? userSimulator.understand(message, signal) : understoodByRules(message)
    const end = await converse({ ...task, turns: stated }, source, runtime, limits, progress, understand, signal)
    const states = hashesOf(sessions)
    const facts = (): RolloutFacts => ({
      states: digestsOf(expected(), states),
      turns,
      results: responses,
      said: said.map(({ tokens, malformed, ...when }) => ({ ...when, text: proseOf(tokens, malformed, runtime) })),
    })
    const rollout = {
      ...transcript.finish(),
      calls,
      responses,
      stateHash: statesHash(states),
      end,
      solved: solvedExactly(task.groundTruth, calls),
    }
    return {
      rollout,
      understood,
      score: (reward) => reward.score(exampleOf(task, offered), calls, ...(reward.needsFacts ? [facts()] : [])),
    }
  } finally {
    await Promise.all([source.close(), ...[...connections.values()].map((connection) => connection.close())])
  }
}

interface Progress {
  readonly offered: readonly RoutedTool[]
  readonly connections: ReadonlyMap<string, McpConnection>
  readonly transcript: Transcript
  readonly calls: LoggedCall[]
  /** Index of the user turn of each call. */
  readonly turns: number[]
  readonly responses: string[]
  readonly said: SaidTokens[]
  readonly understood: UnderstoodMessage[]
}

type Understand = (message: AskingMessage) => Promise<UnderstoodMessage>

/** A message of the assistant in tokens. */
interface SaidTokens extends Omit<AssistantText, 'text'> {
  readonly tokens: readonly Token[]
  /** The unreadable call blocks in the message. */
  readonly malformed: readonly string[]
}

/** Returns the text of a message for the user, without its calls, readable or not, and without the end token. */
function proseOf(
  tokens: readonly Token[],
  malformed: readonly string[],
  { tokenizer, toolCallFormat }: Pick<EpisodeRuntime, 'tokenizer' | 'toolCallFormat'>,
): string {
  const ends = tokens.length > 0 && tokenizer.isEndOfGeneration(tokens.at(-1)!)
  const prose = toolCallFormat.prose(tokenizer.detokenize(ends ? tokens.slice(0, -1) : tokens))
  return malformed.reduce((rest, block) => rest.replace(block, () => ' '), prose)
}

async function converse(
  task: Pick<Task, 'id' | 'turns' | 'questions'>,
  source: TokenSource,
  { tokenizer, toolCallFormat, renderer }: EpisodeRuntime,
  limits: EpisodeLimits,
  { offered, connections, transcript, calls, turns, responses, said, understood }: Progress,
  understand: Understand,
  signal: AbortSignal,
): Promise<EpisodeEnd> {
  let feed: Token[] = []
  let user = INITIAL_USER_STATE
  for (let turn = 0; turn < limits.maxAssistantTurns; turn++) {
    const capacity = limits.maxRolloutTokens - transcript.length - feed.length
    if (capacity < 1) return 'rollout_length'
    const sampled = await source.next(feed, Math.min(limits.maxTurnTokens, capacity), signal)
    transcript.append(feed, sampled)
    const parsed = toolCallFormat.parseCalls(tokenizer.detokenize(sampled.tokens))
    let reply: UserReply | undefined
    if (parsed.length === 0) {
      const message = askingMessage(task, user.turn, () => proseOf(sampled.tokens, [], { tokenizer, toolCallFormat }))
      const made = message && (await understand(message))
      if (made) understood.push(made)
      reply = replyOf(task, user, made)
    }
    said.push({
      turn: user.turn,
      calls: calls.length,
      isAnswer: reply?.isAnswer === true,
      tokens: sampled.tokens,
      malformed: parsed.flatMap((call) => (call.malformed ? [call.raw] : [])),
    })
    const payloads: string[] = []
    for (const call of parsed) {
      if (calls.length === limits.maxCalls) return 'call_limit'
      const { entry, payload } = await executeCall(call, offered, user.turn, ({ environment, name }, args) =>
        connections.get(environment)!.callTool(name, { ...args }, signal),
      )
      calls.push(entry)
      turns.push(user.turn)
      responses.push(payload)
      payloads.push(payload)
    }
    if (sampled.stop === 'length') return capacity > limits.maxTurnTokens ? 'turn_length' : 'rollout_length'
    if (!reply) {
      feed = renderer.toolResults(payloads)
    } else {
      if (reply.says === undefined) return 'finished'
      user = reply.state
      feed = renderer.userTurn(reply.says)
    }
  }
  return 'turn_limit'
}

interface Transcript {
  readonly length: number
  append(feed: readonly Token[], sampled: SampledTurn): void
  finish(): Pick<Rollout, 'tokens' | 'promptLength' | 'mask' | 'logprobs'>
}

function createTranscript(prompt: readonly Token[]): Transcript {
  const tokens = [...prompt]
  /** The sampled turns as ranges of `tokens`. */
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

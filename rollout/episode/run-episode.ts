import type { McpConnection } from '../../servers/kernel/index.js'
import type { SampledTurn, Token, TokenSource } from '../engine/types.js'
import type { RewardBreakdown, RewardPreset } from '../reward/index.js'
import { openSessions, statesHash } from './environment-states.js'
import { type AssistantMessage, createEpisodeDriver, type EpisodeDriver } from './episode-driver.js'
import type { EpisodeRuntime, PreparedTask } from './episode-runtime.js'
import { EpisodeError } from './errors.js'
import type { EpisodeLimits } from './limits.js'
import type { EpisodeEnd, Rollout } from './rollout.js'
import type { Task } from './task.js'
import type { MessageInterpreter, UnderstoodMessage } from './understood-message.js'

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
    const prepared = prepare(task, runtime, limits)
    const sessions = openSessions(task, runtime.catalogue, runtime.seedStates)
    for (const [environment, session] of sessions)
      connections.set(environment, await runtime.connections.connect(session))
    const driver = createEpisodeDriver({
      ...prepared,
      ...{ task, limits, sessions, interpreter: userSimulator },
      callEnvironment: ({ environment, name }, args, inner) =>
        connections.get(environment)!.callTool(name, { ...args }, inner),
    })
    const transcript = createTranscript(prepared.prompt)
    const end = await converse(driver, source, runtime, limits, transcript, signal)
    const { calls, responses, solved, understood, score } = driver
    const stateHash = statesHash(driver.states())
    return { rollout: { ...transcript.finish(), ...{ calls, responses, stateHash, end, solved } }, understood, score }
  } finally {
    await Promise.all([source.close(), ...[...connections.values()].map((connection) => connection.close())])
  }
}

/** Plays the turns of a source until the driver or a limit of tokens ends the episode. */
async function converse(
  driver: EpisodeDriver,
  source: TokenSource,
  runtime: EpisodeRuntime,
  limits: EpisodeLimits,
  transcript: Transcript,
  signal: AbortSignal,
): Promise<EpisodeEnd> {
  const { renderer } = runtime
  let feed: Token[] = []
  while (driver.end === null) {
    const capacity = limits.maxRolloutTokens - transcript.length - feed.length
    if (capacity < 1) return 'rollout_length'
    const sampled = await source.next(feed, Math.min(limits.maxTurnTokens, capacity), signal)
    transcript.append(feed, sampled)
    const { results, user } = await driver.act(messageOf(sampled.tokens, runtime), signal)
    if (sampled.stop === 'length' && (driver.end as EpisodeEnd | null) !== 'call_limit')
      return capacity > limits.maxTurnTokens ? 'turn_length' : 'rollout_length'
    if (driver.end === null)
      feed = user === null ? renderer.toolResults(results.map(({ text }) => text)) : renderer.userTurn(user)
  }
  return driver.end
}

/** Returns the message that a turn's tokens write. Its text is without its calls, readable or not, and without the end token. */
function messageOf(
  tokens: readonly Token[],
  { tokenizer, toolCallFormat }: Pick<EpisodeRuntime, 'tokenizer' | 'toolCallFormat'>,
): AssistantMessage {
  const calls = toolCallFormat.parseCalls(tokenizer.detokenize(tokens))
  return {
    calls,
    // Only some rewards read texts, so the text is made on demand.
    get text() {
      const ends = tokens.length > 0 && tokenizer.isEndOfGeneration(tokens.at(-1)!)
      const prose = toolCallFormat.prose(tokenizer.detokenize(ends ? tokens.slice(0, -1) : tokens))
      return calls.reduce((rest, call) => (call.malformed ? rest.replace(call.raw, () => ' ') : rest), prose)
    },
  }
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

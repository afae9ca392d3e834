import {
  createConnectionPool,
  createSeedStateCache,
  type Environment,
  type McpConnection,
  offeredTool,
} from '../../servers/kernel/index.js'
import type { Token } from '../engine/index.js'
import { executeCall, type ParsedCall, type RoutedTool } from '../episode/index.js'
import { complete } from './completion.js'
import { ConversationError } from './errors.js'
import type { ServedPolicy } from './policy.js'

export interface ChatSessionOptions {
  readonly environments: readonly Environment[]
  /** Of the worlds. */
  readonly seed: number
  /** Names of the tools that are offered; null: all of the worlds'. */
  readonly tools: ReadonlySet<string> | null
  readonly temperature: number
  /** Of the draws. */
  readonly drawSeed: number
}

export interface ChatSessionEvents {
  onText(text: string): void
  onCall(call: ParsedCall): void
  /** @param text  JSON, as the policy gets it */
  onResult(text: string, ok: boolean): void
  /** An answer of the policy is over. */
  onTurn(): void
}

/** A conversation of a user with a policy that is at work on worlds, played as an episode is. */
export interface ChatSession {
  readonly tools: readonly RoutedTool[]
  /** Tokens of the conversation so far. */
  readonly length: number
  /**
   * The user's turn: the policy answers, its calls are made, until it answers without one.
   * @returns  why it ended: `cut`: the context was full in the middle of an answer; `turn_limit`: it did nothing but call
   * @throws ConversationError, which leaves the conversation as it was; EngineError; the signal's reason
   */
  say(text: string, events: ChatSessionEvents, signal: AbortSignal): Promise<'answered' | 'cut' | 'turn_limit'>
  /** Begins anew, with the worlds as they were. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** Answers to one user turn, as in the paper's episodes (section 4.1). */
const MAX_TURNS = 10

/** Sits a policy down before fresh sessions of some worlds. */
export async function createChatSession(policy: ServedPolicy, options: ChatSessionOptions): Promise<ChatSession> {
  const { environments, seed, temperature, drawSeed } = options
  const { renderer } = policy
  const cache = createSeedStateCache()
  const pool = createConnectionPool()
  const connections = new Map<string, McpConnection>()
  const tools = environments.flatMap((environment) =>
    environment.tools
      .filter(({ name }) => options.tools?.has(name) ?? true)
      .map((tool): RoutedTool => ({ ...offeredTool(tool), environment: environment.name })),
  )
  let transcript: readonly Token[] = []
  let answers = 0

  const closeSessions = async (): Promise<void> => {
    await Promise.all([...connections.values()].map((connection) => connection.close()))
    connections.clear()
  }
  const openSessions = async (): Promise<void> => {
    await closeSessions()
    transcript = []
    for (const environment of environments)
      connections.set(environment.name, await pool.connect(cache.open(environment, seed)))
  }

  /** What the user says, after what was said. */
  const opened = (text: string): Token[] =>
    transcript.length === 0 ? renderer.firstPrompt(tools, text) : [...transcript, ...renderer.userTurn(text)]

  await openSessions()
  return {
    tools,
    get length() {
      return transcript.length
    },
    async say(text, events, signal) {
      let prompt = opened(text)
      for (let turn = 0; turn < MAX_TURNS; turn++) {
        const sampling = { temperature, seed: drawSeed + answers++, maxTokens: policy.contextSize, choices: 1 }
        const [answer] = await complete(prompt, policy, sampling, signal, (_, piece) =>
          events.onText(piece.text),
        ).catch((error: unknown) => {
          // In the middle of a turn the worlds have changed already: what was said stays.
          if (turn > 0 && error instanceof ConversationError && error.code === 'context_full') return []
          throw error
        })
        if (!answer) return 'cut'
        const isCut = answer.stop === 'length'
        transcript = [...prompt, ...answer.ids, ...(isCut ? renderer.assistantTurn('') : [])]
        events.onTurn()
        if (isCut) return 'cut'
        if (answer.parsed.length === 0) return 'answered'
        const payloads: string[] = []
        for (const call of answer.parsed) {
          events.onCall(call)
          const { entry, payload } = await executeCall(call, tools, 0, ({ environment, name }, args) =>
            connections.get(environment)!.callTool(name, { ...args }, signal),
          )
          events.onResult(payload, !entry.malformed && entry.ok)
          payloads.push(payload)
        }
        prompt = [...transcript, ...renderer.toolResults(payloads)]
        transcript = prompt
      }
      return 'turn_limit'
    },
    reset: openSessions,
    close: closeSessions,
  }
}

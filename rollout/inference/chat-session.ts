import {
  createConnectionPool,
  createSeedStateCache,
  type Environment,
  type McpConnection,
  offeredTool,
  type ToolResponse,
} from '../../servers/kernel/index.js'
import type { Token } from '../engine/index.js'
import { executeCall, type ParsedCall, type RoutedTool, withResults } from '../episode/index.js'
import { complete } from './completion.js'
import { ConversationError } from './errors.js'
import type { ServedPolicy } from './policy.js'

export interface ChatSessionOptions {
  readonly environments: readonly Environment[]
  /** Seed of the environments. */
  readonly seed: number
  /** Names of the offered tools; null: all tools of the environments. */
  readonly tools: ReadonlySet<string> | null
  readonly temperature: number
  /** Seed of the sampling. */
  readonly drawSeed: number
}

/** Callbacks of a chat session. */
export interface ChatSessionEvents {
  onText(text: string): void
  onCall(call: ParsedCall): void
  /** @param text  the result in the policy's JSON form */
  onResult(text: string, ok: boolean): void
  /** Called at the end of each answer of the policy. */
  onTurn(): void
}

/** A chat session: a user's conversation with a policy that calls tools of environments, in the form of an episode. */
export interface ChatSession {
  readonly tools: readonly RoutedTool[]
  /** Number of tokens of the conversation so far. */
  readonly length: number
  /**
   * Adds a user turn, and lets the policy answer and make calls until it answers without a call.
   * @returns  the reason of the end: `cut`: the context was full in the middle of an answer; `turn_limit`: too many turns with calls
   * @throws ConversationError, which leaves the conversation unchanged; EngineError; the signal's reason
   */
  say(text: string, events: ChatSessionEvents, signal: AbortSignal): Promise<'answered' | 'cut' | 'turn_limit'>
  /** Starts a new conversation with fresh environments. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** Maximal answers to one user turn, as in the paper's episodes (section 4.1). */
const MAX_TURNS = 10

/** Creates a chat session with fresh sessions of some environments. */
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

  /** Returns the conversation with another user turn. */
  const withUserTurn = (text: string): Token[] =>
    transcript.length === 0 ? renderer.firstPrompt(tools, text) : [...transcript, ...renderer.userTurn(text)]

  await openSessions()
  return {
    tools,
    get length() {
      return transcript.length
    },
    async say(text, events, signal) {
      let prompt = withUserTurn(text)
      for (let turn = 0; turn < MAX_TURNS; turn++) {
        const sampling = { temperature, seed: drawSeed + answers++, maxTokens: policy.contextSize, choices: 1 }
        const [answer] = await complete(prompt, policy, sampling, signal, (_, piece) =>
          events.onText(piece.text),
        ).catch((error: unknown) => {
          // In the middle of a turn the environments have changed already, so the conversation keeps its messages.
          if (turn > 0 && error instanceof ConversationError && error.code === 'context_full') return []
          throw error
        })
        if (!answer) return 'cut'
        const isCut = answer.stop === 'length'
        transcript = [...prompt, ...answer.ids, ...(isCut ? renderer.assistantTurn('') : [])]
        events.onTurn()
        if (isCut) return 'cut'
        if (answer.parsed.length === 0) return 'answered'
        const results: ToolResponse[] = []
        for (const call of answer.parsed) {
          events.onCall(call.malformed ? call : (withResults(call, results) ?? call))
          const { entry, payload } = await executeCall(
            call,
            tools,
            0,
            ({ environment, name }, args) => connections.get(environment)!.callTool(name, { ...args }, signal),
            results,
          )
          const ok = entry.malformed !== true && entry.ok
          events.onResult(payload, ok)
          results.push({ ok, text: payload })
        }
        prompt = [...transcript, ...renderer.toolResults(results.map(({ text: payload }) => payload))]
        transcript = prompt
      }
      return 'turn_limit'
    },
    reset: openSessions,
    close: closeSessions,
  }
}

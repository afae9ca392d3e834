import { createHash, randomBytes } from 'node:crypto'
import type { Token } from '../engine/index.js'
import { type ParsedCall, samplerSeed } from '../episode/index.js'
import type { JsonObject } from '../reward/index.js'
import type { MadeCall } from './conversation.js'
import { ConversationError } from './errors.js'
import type { ServedPolicy } from './policy.js'

export interface SamplingOptions {
  /** 0 takes the likeliest token; 1 is the policy itself. */
  readonly temperature: number
  /** The same seed gives the same answer to the same prompt. */
  readonly seed: number
  /** Upper bound; fewer if the context is full. */
  readonly maxTokens: number
}

export interface SampledToken {
  readonly text: string
  /** Nats, under the full distribution at temperature 1. */
  readonly logprob: number
}

/** The part of an answer that was sampled since the last piece. */
export interface Piece {
  /** Text for the user. Calls are not part of pieces. */
  readonly text: string
  readonly tokens: readonly SampledToken[]
}

export interface Completion {
  /** The text without readable calls. An unreadable call stays in the text. */
  readonly text: string
  readonly calls: readonly MadeCall[]
  readonly stop: 'end' | 'length'
  readonly tokens: readonly SampledToken[]
  /** The sampled tokens, with the token that ends the turn. */
  readonly ids: readonly Token[]
  /** All call blocks in order, readable or not. */
  readonly parsed: readonly ParsedCall[]
}

/** Returns the number of tokens that the context has left for an answer. @throws ConversationError `context_full` */
export function capacityAfter(prompt: readonly Token[], { contextSize }: Pick<ServedPolicy, 'contextSize'>): number {
  const capacity = contextSize - prompt.length
  if (capacity >= 1) return capacity
  // LangChain and LiteLLM recognise these words, because OpenAI's client leaves the code out of its message.
  const most = `this model's maximum context length is ${contextSize} tokens, with at least one for the answer`
  throw new ConversationError('context_full', `the prompt is too long: it has ${prompt.length} tokens, and ${most}`)
}

/**
 * Samples answers to one prompt, in lockstep. To stream tokens, each token is a turn of the slot with its own seed.
 * @param onPiece  called with the pieces of each answer as they are sampled
 * @throws ConversationError `context_full`; EngineError; the signal's reason
 */
export async function complete(
  prompt: readonly Token[],
  policy: ServedPolicy,
  { choices, ...options }: SamplingOptions & { readonly choices: number },
  signal: AbortSignal,
  onPiece: (choice: number, piece: Piece) => void = () => undefined,
): Promise<Completion[]> {
  const maxTokens = Math.min(options.maxTokens, capacityAfter(prompt, policy))
  const seed = createHash('sha256').update(`prove/completion/1\n${options.seed}`).digest()
  const { temperature } = options
  const slots = Array.from({ length: choices }, (_, choice) => ({
    prompt,
    temperature,
    seeds: Array.from({ length: maxTokens }, (_, token) => samplerSeed(seed, choice, token)),
  }))
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  const sources = await policy.engine.openSlots(slots, both)
  try {
    return await Promise.all(
      sources.map(async (source, choice) => {
        const answer = createAnswer(policy, (piece) => onPiece(choice, piece))
        try {
          while (answer.open && answer.count < maxTokens) {
            const { tokens, logprobs } = await source.next([], 1, both)
            answer.take(tokens[0]!, logprobs[0]!)
          }
          return answer.finish()
        } finally {
          await source.close()
        }
      }),
    )
  } finally {
    stop.abort(new Error('the answer is complete'))
  }
}

/** Assembles an answer from its tokens. */
function createAnswer({ tokenizer, toolCallFormat }: ServedPolicy, onPiece: (piece: Piece) => void) {
  const ids: Token[] = []
  const tokens: SampledToken[] = []
  let [whole, shown, stated] = ['', '', 0]
  let end: Token | null = null

  const show = (text: string): void => {
    if (text.length <= shown.length && stated === tokens.length) return
    onPiece({ text: text.slice(shown.length), tokens: tokens.slice(stated) })
    stated = tokens.length
    if (text.length > shown.length) shown = text
  }

  return {
    get open() {
      return end === null
    },
    get count() {
      return ids.length
    },
    take(token: Token, logprob: number): void {
      if (tokenizer.isEndOfGeneration(token)) {
        end = token
        return
      }
      ids.push(token)
      const before = whole
      whole = tokenizer.detokenize(ids)
      tokens.push({ text: whole.slice(before.length), logprob })
      const safe = surelyProse(whole, toolCallFormat.tags)
      if (safe.length > shown.length) show(safe)
    },
    finish(): Completion {
      const text = toolCallFormat.prose(whole).trimEnd()
      const parsed = toolCallFormat.parseCalls(whole)
      // A client makes the calls, and OpenAI's form of a call has no place for results that are not there yet. So the policy writes the calls
      // from the first one that takes a result again, when it has read the results.
      const waiting = parsed.findIndex((call) => !call.malformed && call.bound !== undefined)
      const calls = (waiting < 0 ? parsed : parsed.slice(0, waiting)).flatMap((call): MadeCall[] =>
        call.malformed
          ? []
          : [
              {
                id: `call_${randomBytes(12).toString('hex')}`,
                name: call.name,
                arguments: call.arguments as JsonObject,
              },
            ],
      )
      show(text)
      return {
        text,
        calls,
        parsed,
        stop: end === null ? 'length' : 'end',
        tokens,
        ids: end === null ? ids : [...ids, end],
      }
    },
  }
}

/** Returns the part of an unfinished message that no later token can change: the text before any tag, or a possible beginning of one. */
function surelyProse(message: string, tags: readonly string[]): string {
  let end = message.length
  for (const tag of tags) {
    const at = message.indexOf(tag)
    if (at >= 0) end = Math.min(end, at)
    for (let begun = Math.min(tag.length - 1, message.length); begun > 0; begun--) {
      if (!message.endsWith(tag.slice(0, begun))) continue
      end = Math.min(end, message.length - begun)
      break
    }
  }
  // The last character may be incomplete, and trailing space is removed.
  return message.slice(0, end).replace(/�+$/, '').trimEnd()
}

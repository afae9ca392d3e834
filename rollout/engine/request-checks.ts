import { checkAdapterFile } from './adapter-check.js'
import { MAX_SEED, MAX_SLOTS, MAX_TEMPERATURE } from './constants.js'
import { EngineError } from './errors.js'
import type { GgufHeader } from './gguf.js'
import { hashFile } from './hash-file.js'
import type { AdapterFile, EngineOptions, SlotRequest, Token } from './types.js'

/** Checks of calls before they are sent to the engine's process. All of them throw EngineError. */

export function checkOptions({ threads, contextSize, slots }: EngineOptions): void {
  const wrong = Object.entries({ threads, contextSize, slots }).find(([, n]) => !Number.isSafeInteger(n) || n < 1)
  if (wrong !== undefined)
    throw new EngineError('bad_request', `${wrong[0]} is ${wrong[1]}, it must be a positive integer`)
  if (slots > MAX_SLOTS)
    throw new EngineError('too_many_slots', `${slots} slots requested, llama.cpp allows ${MAX_SLOTS}`)
}

export function checkSlots(requests: readonly SlotRequest[], { contextSize }: EngineOptions): void {
  if (requests.length > MAX_SLOTS) {
    throw new EngineError(
      'too_many_slots',
      `${requests.length} rollouts requested at once, at most ${MAX_SLOTS} are allowed`,
    )
  }
  for (const { prompt, seeds, temperature = 1 } of requests) {
    if (prompt.length === 0) throw new EngineError('bad_request', 'a prompt is empty')
    if (prompt.length >= contextSize) {
      throw new EngineError(
        'context_full',
        `a prompt of ${prompt.length} tokens does not fit the context of ${contextSize} tokens`,
      )
    }
    if (!(temperature >= 0 && temperature <= MAX_TEMPERATURE))
      throw new EngineError('bad_request', `the temperature ${temperature} is not in 0 .. ${MAX_TEMPERATURE}`)
    const wrong = seeds.find((seed) => !Number.isSafeInteger(seed) || seed < 0 || seed > MAX_SEED)
    if (wrong !== undefined)
      throw new EngineError('bad_request', `the sampler seed ${wrong} is not in 0 .. ${MAX_SEED}`)
  }
}

export function checkScore(tokens: readonly Token[], from: number, contextSize: number): void {
  if (!Number.isSafeInteger(from) || from < 1 || from > tokens.length) {
    throw new EngineError('bad_request', `cannot score ${tokens.length} tokens from index ${from}`)
  }
  if (tokens.length > contextSize) {
    throw new EngineError('context_full', `${tokens.length} tokens exceed the context of ${contextSize} tokens`)
  }
}

/** Checks hash and content of an adapter: with a wrong file, a run would train one policy and publish another. */
export async function checkAdapter(
  { path, sha256, shape }: AdapterFile,
  base: GgufHeader,
  signal: AbortSignal,
): Promise<void> {
  const found = await hashFile(path, signal).catch((cause: unknown) => {
    throw new EngineError('adapter_refused', `${path}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  })
  if (found !== sha256) throw new EngineError('adapter_refused', `${path} has the SHA-256 ${found}, not ${sha256}`)
  await checkAdapterFile(path, base, shape, signal)
}

import type { Example } from '../../dataset/example.js'
import type { Paraphraser, RephraseContext, Rephrased } from './paraphraser.js'

/**
 * Rephrases examples, several at a time, and gives them in their own order. When the signal aborts, or the consumer
 * stops, no request is left under way.
 * @param concurrency  examples under way at once, >= 1
 * @throws TeacherError as `Teacher.rephrase`; the signal's reason
 */
export async function* rephraseAll(
  examples: AsyncIterable<Example> | Iterable<Example>,
  paraphraser: Paraphraser,
  context: RephraseContext,
  concurrency: number,
): AsyncGenerator<Rephrased> {
  const stop = new AbortController()
  const signal = AbortSignal.any([context.signal, stop.signal])
  const underWay: Promise<Rephrased>[] = []
  try {
    for await (const example of examples) {
      signal.throwIfAborted()
      const rephrased = paraphraser.rephrase(example, { ...context, signal })
      // Whoever waits for an earlier example must not find this one's failure unhandled.
      rephrased.catch(() => {})
      underWay.push(rephrased)
      if (underWay.length >= concurrency) yield await underWay.shift()!
    }
    while (underWay.length > 0) yield await underWay.shift()!
  } finally {
    stop.abort()
    await Promise.allSettled(underWay)
  }
}

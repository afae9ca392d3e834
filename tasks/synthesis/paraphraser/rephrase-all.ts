import type { Example } from '../../dataset/example.js'
import type { Paraphraser, RephraseContext, Rephrased } from './paraphraser.js'

/**
 * Rephrases several examples concurrently and yields them in order. Cancels all requests when the signal aborts or the consumer stops.
 * @param concurrency  concurrent examples, >= 1
 * @throws ParaphraserError as `Paraphraser.rephrase`; the signal's reason
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
      // A failure must not count as unhandled while the consumer waits for an earlier example.
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

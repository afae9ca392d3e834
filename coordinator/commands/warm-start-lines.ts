import { durationOf } from '../report/words.js'
import type { WarmStartProgress } from '../warm-start/warm-start.js'

/** Time between two progress lines. */
const PAUSE_MS = 5000

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`
const nats = (loss: number): string => `${loss.toFixed(3)} nats per token`

/** Creates the text of a warm start's progress; null: nothing to say now. @param now  clock in milliseconds */
export function createWarmStartLines(
  now: () => number = () => performance.now(),
): (progress: WarmStartProgress) => string | null {
  let saidAt = Number.NEGATIVE_INFINITY
  let plan = { steps: 0, tokens: 0 }
  let begun = { atMs: 0, tokens: 0 }
  const isDue = (): boolean => {
    if (now() - saidAt < PAUSE_MS) return false
    saidAt = now()
    return true
  }
  const timeLeft = (tokens: number): string => {
    const pace = (now() - begun.atMs) / (tokens - begun.tokens)
    return `${durationOf(pace * (plan.tokens - tokens))} left`
  }
  return (progress) => {
    switch (progress.event) {
      case 'demonstrated': {
        const { done, wanted, omitted } = progress
        if (done < wanted && !isDue()) return null
        const without = omitted === 0 ? '' : `, ${omitted} omitted because they exceed the run's limits`
        return `${done} of ${wanted} reference solutions played${without}`
      }
      case 'estimate':
        return progress.available === null
          ? `training needs about ${gib(progress.bytes)} of memory`
          : `training needs about ${gib(progress.bytes)} of memory, ${gib(progress.available)} are free`
      case 'ready': {
        const { step, steps, demonstrations, tokens, seen } = progress
        plan = { steps, tokens }
        begun = { atMs: now(), tokens: seen }
        const from = step === 0 ? '' : `, resumed after step ${step}`
        return `${steps} steps over ${tokens} tokens from ${demonstrations} demonstrations${from}`
      }
      case 'trained': {
        const { step, tokens, loss } = progress
        if (step < plan.steps && !isDue()) return null
        return `step ${step} of ${plan.steps}: loss ${nats(loss)}, ${timeLeft(tokens)}`
      }
      case 'held_out':
        return `held-out demonstrations after step ${progress.step}: loss ${nats(progress.loss)}`
      case 'complete':
      case 'error':
        return null
    }
  }
}

import type { Engine, TokenSource } from '../../rollout/engine/index.js'
import type { Clock } from '../../swarm/index.js'

/** Reading of the engine's work, updated at the end of each turn of a rollout. */
export interface WorkReading {
  /** Number of rollouts in progress. */
  readonly rollouts: number
  /** Tokens sampled since the start of the last group. */
  readonly tokens: number
  /** Speed of all groups in progress since the start of the last one. */
  readonly tokensPerSecond: number
}

/** Counts the rollouts and tokens of an engine. */
export interface WorkMeter {
  readonly reading: WorkReading
  opened(slots: number): void
  sampled(tokens: number): void
  closed(): void
}

export function createWorkMeter(clock: Pick<Clock, 'elapsedMs'>): WorkMeter {
  let rollouts = 0
  let tokens = 0
  let sinceMs = clock.elapsedMs()
  let lastMs = sinceMs
  return {
    get reading() {
      const seconds = (lastMs - sinceMs) / 1000
      return { rollouts, tokens: rollouts > 0 ? tokens : 0, tokensPerSecond: seconds > 0 ? tokens / seconds : 0 }
    },
    opened(slots) {
      rollouts += slots
      tokens = 0
      sinceMs = clock.elapsedMs()
      lastMs = sinceMs
    },
    sampled(count) {
      tokens += count
      lastMs = clock.elapsedMs()
    },
    closed() {
      rollouts = Math.max(0, rollouts - 1)
    },
  }
}

/** Wraps an engine, and counts its rollouts. */
export function meteredEngine(engine: Engine, meter: WorkMeter): Engine {
  const metered = (source: TokenSource): TokenSource => {
    let open = true
    return {
      async next(feed, maxTokens, signal) {
        const turn = await source.next(feed, maxTokens, signal)
        meter.sampled(turn.tokens.length)
        return turn
      },
      async close() {
        if (open) meter.closed()
        open = false
        await source.close()
      },
    }
  }
  return {
    get build() {
      return engine.build
    },
    usePolicy: (adapter, signal) => engine.usePolicy(adapter, signal),
    async openSlots(requests, signal) {
      const sources = await engine.openSlots(requests, signal)
      meter.opened(sources.length)
      return sources.map(metered)
    },
    score: (tokens, from, signal) => engine.score(tokens, from, signal),
    scoreTokens: (tokens, from, signal, draws) => engine.scoreTokens(tokens, from, signal, draws),
    close: () => engine.close(),
  }
}

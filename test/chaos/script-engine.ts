import { readFile } from 'node:fs/promises'
import { sha256 } from '../../proto/index.js'
import { calibratedName, type Engine, EngineError, type TokenSource } from '../../rollout/engine/index.js'
import type { Clock } from '../../swarm/index.js'
import { scriptedSource } from '../support/scripted.js'
import { scoresOf, scriptOf, taskOfPrompt, tokenizer } from './script-policy.js'

const BUILD = { nodeLlamaCpp: '3.22.1', backend: 'cpu' }
/** What its work is leased and audited by. */
export const SCRIPTED_BACKEND = calibratedName(BUILD)

export interface ScriptEngineOptions {
  readonly clock: Clock
  /** How long one turn takes. */
  readonly turnMs: (seed: number) => number
  /** The seed that is really used: another than the lease's is a lie. Default: the lease's. */
  readonly seedUsed?: (seed: number) => number
}

/** The engine of a simulated volunteer: it reads and checks the adapter's file like the real one, and says what its script says. */
export function createScriptEngine({ clock, turnMs, seedUsed = (seed) => seed }: ScriptEngineOptions): Engine {
  let adapterSha256: string | null = null

  const paced = (source: TokenSource, ms: number): TokenSource => ({
    async next(feed, maxTokens, signal) {
      await clock.sleep(ms, signal)
      return source.next(feed, maxTokens, signal)
    },
    close: () => source.close(),
  })

  return {
    build: BUILD,
    async usePolicy(adapter) {
      if (adapter && sha256(await readFile(adapter.path)) !== adapter.sha256)
        throw new EngineError('adapter_refused', 'the file is not the one its hash names')
      adapterSha256 = adapter?.sha256 ?? null
    },
    async openSlots(requests) {
      return requests.map(({ prompt, seeds }, slot) => {
        const script = scriptOf(adapterSha256, taskOfPrompt(prompt), slot, seedUsed(seeds[0]!))
        return paced(scriptedSource(script, tokenizer), turnMs(seeds[0]!))
      })
    },
    score: async (tokens, from) => scoresOf(adapterSha256, tokens, from),
    async scoreTokens() {
      throw new EngineError('engine_failed', 'a script has no distribution')
    },
    async close() {},
  }
}

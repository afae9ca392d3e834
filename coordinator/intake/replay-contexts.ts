import { createEpisodeRuntime, type EpisodeRuntime, rulesNamed } from '../../rollout/episode/index.js'
import type { Environment } from '../../servers/kernel/index.js'

/** Returns a function that returns the runtime for a reward preset: the run's own, or one for groups of earlier run configurations. */
export function replayContexts(
  runtime: EpisodeRuntime,
  environments: readonly Environment[],
): (reward: string) => EpisodeRuntime {
  const others = new Map<string, EpisodeRuntime>([[runtime.reward.name, runtime]])
  return (reward) => {
    let replayContext = others.get(reward)
    if (!replayContext) {
      const rules = rulesNamed({ toolCallFormat: runtime.toolCallFormat.name, reward })
      replayContext = createEpisodeRuntime(environments, runtime.tokenizer, rules, runtime.seedStates)
      others.set(reward, replayContext)
    }
    return replayContext
  }
}

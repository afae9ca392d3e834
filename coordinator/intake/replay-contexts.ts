import { createEpisodeRuntime, type EpisodeRuntime, rulesNamed } from '../../rollout/episode/index.js'
import type { Environment } from '../../servers/kernel/index.js'

/** The run's stage, and others of its worlds and dialect for groups whose terms name another reward. */
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

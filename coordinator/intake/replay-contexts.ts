import { createStage, rulesNamed, type Stage } from '../../rollout/episode/index.js'
import type { ServerDefinition } from '../../servers/kernel/index.js'

/** The run's stage, and others of its worlds and dialect for groups whose terms name another reward. */
export function theatres(stage: Stage, servers: readonly ServerDefinition[]): (reward: string) => Stage {
  const others = new Map<string, Stage>([[stage.reward.name, stage]])
  return (reward) => {
    let theatre = others.get(reward)
    if (!theatre) {
      const rules = rulesNamed({ dialect: stage.dialect.name, reward })
      theatre = createStage(servers, stage.tokenizer, rules, stage.worlds)
      others.set(reward, theatre)
    }
    return theatre
  }
}

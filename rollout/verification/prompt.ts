import { bodyOf, type DeliveredGroup } from './delivered-group.js'
import { playbackRefusal, sourceOf } from './rollout-source.js'

/** Stage 2: every rollout begins with the prompt that its task has, token for token. It is rendered once per task. */
export async function checkPrompt(group: DeliveredGroup): Promise<void> {
  for (const [i, recorded] of bodyOf(group).rollouts.entries()) {
    try {
      sourceOf(recorded, group)
    } catch (cause) {
      throw playbackRefusal(cause, i)
    }
  }
}

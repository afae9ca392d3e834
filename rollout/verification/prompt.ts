import { bodyOf, type DeliveredGroup } from './delivered-group.js'
import { playbackRefusal, sourceOf } from './rollout-source.js'

/** Check 2: every rollout begins with the prompt of its task, token for token. The prompt is rendered once per task. */
export async function checkPrompt(group: DeliveredGroup): Promise<void> {
  for (const [i, recorded] of bodyOf(group).rollouts.entries()) {
    try {
      sourceOf(recorded, group)
    } catch (cause) {
      throw playbackRefusal(cause, i)
    }
  }
}

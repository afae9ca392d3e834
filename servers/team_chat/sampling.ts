import type { SeededRandom } from '../kernel/random.js'
import { REPLIES, SUBJECTS, TEMPLATES } from './words.js'

/** What somebody might post outside a thread. */
export function messageText(random: SeededRandom): string {
  return random.pick(TEMPLATES).replace('{}', random.pick(SUBJECTS))
}

export function replyText(random: SeededRandom): string {
  return random.pick(REPLIES)
}

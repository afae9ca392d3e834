import type { SeededRandom } from '../kernel/random.js'
import { HASHTAGS, REPLIES, TEMPLATES } from './words.js'

/** What somebody might post under a hashtag. */
export function postText(random: SeededRandom, hashtag: string): string {
  const things = HASHTAGS[hashtag] ?? [hashtag]
  return random.pick(TEMPLATES).replace('{}', random.pick(things))
}

export function replyText(random: SeededRandom): string {
  return random.pick(REPLIES)
}

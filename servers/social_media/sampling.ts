import type { SeededRandom } from '../kernel/random.js'
import type { Post, SocialView } from './schema.js'
import {
  AFTER_POSTS,
  AFTER_REPLIES,
  FIRST_MESSAGES,
  HASHTAGS,
  MESSAGES,
  MESSAGES_ABOUT,
  REPLIES,
  TEMPLATES,
} from './words.js'

const THINGS = Object.values(HASHTAGS).flat()

/** Returns the subject of the post, if people of this environment post about it. */
export const subjectOf = ({ text }: Pick<Post, 'text'>): string | undefined =>
  THINGS.find((thing) => text.endsWith(thing))

/** Samples a text that a user might post under a hashtag. */
export function postText(random: SeededRandom, hashtag: string): string {
  const things = HASHTAGS[hashtag] ?? [hashtag]
  return random.pick(TEMPLATES).replace('{}', random.pick(things))
}

/** The post with what its author forgot to say. */
export function extended(random: SeededRandom, { text, hashtag }: Post): string {
  const further = random.pick(hashtag === null ? AFTER_REPLIES : AFTER_POSTS)
  return `${text}${/[.!?]$/.test(text) ? '' : '.'} ${further}`
}

export function replyText(random: SeededRandom): string {
  return random.pick(REPLIES)
}

/** Samples a message to a profile: about something that the profile has posted, or a text that fits any profile. */
export function messageText(db: SocialView, random: SeededRandom, profile: string): string {
  const subjects = db.posts.by('profile', profile).flatMap((post) => subjectOf(post) ?? [])
  const talked = db.direct_messages.by('profile', profile).length > 0
  if (subjects.length === 0 || random.chance(0.4)) return random.pick(talked ? MESSAGES : FIRST_MESSAGES)
  // What is theirs is not the writer's.
  return random.pick(MESSAGES_ABOUT).replace('{}', random.pick(subjects).replace(/\bmy\b/, 'your'))
}

import type { SeededRandom } from '../kernel/random.js'
import type { Post, SocialView } from './schema.js'
import { FIRST_MESSAGES, HASHTAGS, MESSAGES, MESSAGES_ABOUT, REPLIES, TEMPLATES } from './words.js'

const THINGS = Object.values(HASHTAGS).flat()

/** What the post is about, where that is something people post about. */
export const subjectOf = ({ text }: Pick<Post, 'text'>): string | undefined =>
  THINGS.find((thing) => text.endsWith(thing))

/** What somebody might post under a hashtag. */
export function postText(random: SeededRandom, hashtag: string): string {
  const things = HASHTAGS[hashtag] ?? [hashtag]
  return random.pick(TEMPLATES).replace('{}', random.pick(things))
}

/** The post in other words, about the same thing. */
export function rewording(random: SeededRandom, { text, hashtag }: Post): string {
  if (hashtag === null) return random.pick(REPLIES.filter((reply) => reply !== text))
  const thing = subjectOf({ text })
  if (thing === undefined) return postText(random, hashtag)
  return random.pick(TEMPLATES.map((form) => form.replace('{}', thing)).filter((form) => form !== text))
}

export function replyText(random: SeededRandom): string {
  return random.pick(REPLIES)
}

/** What somebody might write to a profile: about something that it has posted, or what one writes to anybody. */
export function messageText(db: SocialView, random: SeededRandom, profile: string): string {
  const subjects = db.posts.by('profile', profile).flatMap((post) => subjectOf(post) ?? [])
  const talked = db.direct_messages.by('profile', profile).length > 0
  if (subjects.length === 0 || random.chance(0.4)) return random.pick(talked ? MESSAGES : FIRST_MESSAGES)
  return random.pick(MESSAGES_ABOUT).replace('{}', random.pick(subjects))
}

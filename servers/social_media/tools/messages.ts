import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addMinutes } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { follows, LIMITS, liveStory, me, messageObstacle, viewObstacle } from '../rules.js'
import { messageText } from '../sampling.js'
import { type Profile, tool } from '../schema.js'

const viewStory = tool({
  name: 'view_story',
  description:
    'View the latest story of a profile. Stories expire after 24 hours; those of private profiles are for their followers.',
  input: z.strictObject({ profile: ref('profile') }),
  output: z.object({
    name: z.string(),
    profile: ref('profile'),
    story: z.string(),
    expires: z.string().describe('UTC.'),
    post: ref('post', 'The post that the story shares.').optional(),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound, now }) {
    const instant = now()
    const profile = choose(
      db.profiles,
      random,
      bound.profile,
      (row) => viewObstacle(db, row) === undefined && liveStory(db, instant, row.profile) !== undefined,
    )
    return profile ? { profile: profile.profile } : null
  },
  run({ profile }, { rowOf, unless, db, fail, now }) {
    const row = rowOf('profiles', profile)
    unless(viewObstacle(db, row))
    const { text, at, post } =
      liveStory(db, now(), profile) ?? fail('no_live_story', `${profile} has no story of the last 24 hours.`)
    const expires = addMinutes(at, LIMITS.storyMinutes)
    return { name: row.name, profile, story: text, expires, ...(post === null ? {} : { post }) }
  },
})

const sendDirectMessage = tool({
  name: 'send_direct_message',
  description:
    'Write to a profile that follows you, or to any other with an open inbox: there only once until it answers.',
  input: z.strictObject({ profile: ref('profile'), text: z.string().trim().min(2).max(200).describe('The message.') }),
  output: z.object({
    name: z.string(),
    profile: ref('profile'),
    direct_message: z.string(),
    conversation: z.int().describe('Messages exchanged so far.'),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    // People write to those they have to do with, not to somebody whose request they have just declined.
    const own = me(db)
    const isKnown = ({ profile }: { profile: string }): boolean =>
      follows(db, own, profile) || follows(db, profile, own) || db.direct_messages.by('profile', profile).length > 0
    const fits = (row: Profile): boolean => isKnown(row) && messageObstacle(db, row) === undefined
    const profile = choose(db.profiles, random, bound.profile, fits)
    return profile ? { text: messageText(db, random, profile.profile), ...bound, profile: profile.profile } : null
  },
  run({ profile, text }, { rowOf, unless, db, nextId, now }) {
    const row = rowOf('profiles', profile)
    unless(messageObstacle(db, row))
    const message = { profile, from_me: true, text, at: now() }
    const { direct_message } = db.direct_messages.insert({ direct_message: nextId('message'), ...message })
    const conversation = db.direct_messages.by('profile', profile).length
    return { name: row.name, profile, direct_message, conversation }
  },
})

export const messageTools = [viewStory, sendDirectMessage]

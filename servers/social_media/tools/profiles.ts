import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { followObstacle, follows, LIMITS, me, relationTo } from '../rules.js'
import { ANSWERS, RESTRICTIONS, type SocialDb, type SocialView, tool } from '../schema.js'

const person = { name: z.string(), profile: ref('profile') }

const followProfile = tool({
  name: 'follow_profile',
  description: `Follow a profile; a private one only receives a request. At most ${LIMITS.followsPerDay} a day, and not across a block.`,
  input: z.strictObject({ profile: ref('profile') }),
  output: z.object({
    ...person,
    private: z.boolean().describe('Whether it has only been asked.'),
    relation: z.string(),
    followers: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const day = today()
    const profile = choose(db.profiles, random, bound.profile, (row) => followObstacle(db, day, row) === undefined)
    return profile ? { profile: profile.profile } : null
  },
  run({ profile }, { rowOf, unless, db, today }) {
    const row = rowOf('profiles', profile)
    const date = today()
    unless(followObstacle(db, date, row))
    const own = db.profiles.get(me(db))!
    const follow = `${own.profile}>${profile}`
    const link = { follow, follower: own.profile, followed: profile, date }
    if (row.private) {
      db.follows.insert({ ...link, status: 'requested' })
      return { name: row.name, profile, private: true, relation: 'requested', followers: row.followers }
    }
    db.follows.insert({ ...link, status: 'active' })
    db.profiles.update(own.profile, { following: own.following + 1 })
    const followed = db.profiles.update(profile, { followers: row.followers + 1 })
    return {
      name: row.name,
      profile,
      private: false,
      relation: relationTo(db, followed),
      followers: followed.followers,
    }
  },
})

const isAsking = (db: SocialView, profile: string): boolean =>
  db.follows.get(`${profile}>${me(db)}`)?.status === 'requested'

const answerFollowRequest = tool({
  name: 'answer_follow_request',
  description:
    'Accept or decline the request of a profile to follow you. Those you accept see your posts and can be written to.',
  input: z.strictObject({
    profile: ref('profile'),
    answer: z.enum(ANSWERS).describe('Whether the profile may follow you.'),
  }),
  output: z.object({ ...person, accepted: z.boolean(), relation: z.string(), your_followers: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const profile = choose(db.profiles, random, bound.profile, (row) => isAsking(db, row.profile))
    if (!profile) return null
    // People turn down those with whom they have nothing to do.
    const isStranger =
      !follows(db, me(db), profile.profile) && db.direct_messages.by('profile', profile.profile).length === 0
    const answer: (typeof ANSWERS)[number] = isStranger && random.chance(0.4) ? 'decline' : 'accept'
    return { answer, ...bound, profile: profile.profile }
  },
  run({ profile, answer }, { rowOf, db, fail }) {
    const row = rowOf('profiles', profile)
    if (!isAsking(db, profile)) fail('no_follow_request', `${profile} has not asked to follow you.`)
    const own = db.profiles.get(me(db))!
    const follow = `${profile}>${own.profile}`
    if (answer === 'decline') {
      db.follows.remove(follow)
      return { name: row.name, profile, accepted: false, relation: relationTo(db, row), your_followers: own.followers }
    }
    db.follows.update(follow, { status: 'active' })
    const asked = db.profiles.update(profile, { following: row.following + 1 })
    const { followers } = db.profiles.update(own.profile, { followers: own.followers + 1 })
    return { name: row.name, profile, accepted: true, relation: relationTo(db, asked), your_followers: followers }
  },
})

/** Ends that one profile follows another or asks to. */
function unlink(db: SocialDb, follower: string, followed: string): void {
  const follow = `${follower}>${followed}`
  const link = db.follows.get(follow)
  if (!link) return
  db.follows.remove(follow)
  if (link.status === 'requested') return
  db.profiles.update(follower, { following: db.profiles.get(follower)!.following - 1 })
  db.profiles.update(followed, { followers: db.profiles.get(followed)!.followers - 1 })
}

const restrictProfile = tool({
  name: 'restrict_profile',
  description:
    'Mute, block or unrestrict a profile. The muted disappear from your home feed. After a block neither side sees or writes to the other, and following ends in both directions, even if the block is lifted.',
  input: z.strictObject({
    profile: ref('profile'),
    restriction: z.enum(RESTRICTIONS).describe('How the profile is treated from now on.'),
  }),
  output: z.object({ ...person, restriction: z.string(), relation: z.string() }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  sample({ db, random, bound }) {
    // People have somebody muted or blocked; nobody has anybody "unrestricted".
    const restriction = bound.restriction ?? random.pick(RESTRICTIONS.filter((way) => way !== 'unrestricted'))
    const own = me(db)
    const current = (profile: string, muted: boolean) =>
      db.blocks.has(`${own}>${profile}`) ? 'blocked' : muted ? 'muted' : 'unrestricted'
    const profile = choose(
      db.profiles,
      random,
      bound.profile,
      (row) => row.profile !== own && current(row.profile, row.muted) !== restriction,
    )
    return profile ? { profile: profile.profile, restriction } : null
  },
  run({ profile, restriction }, { rowOf, db, fail }) {
    rowOf('profiles', profile)
    const own = me(db)
    if (profile === own) fail('own_profile')
    const block = `${own}>${profile}`
    if (restriction === 'blocked') {
      if (!db.blocks.has(block)) db.blocks.insert({ block, blocker: own, blocked: profile })
      unlink(db, own, profile)
      unlink(db, profile, own)
    } else if (db.blocks.has(block)) db.blocks.remove(block)
    const row = db.profiles.update(profile, { muted: restriction === 'muted' })
    return { name: row.name, profile, restriction, relation: relationTo(db, row) }
  },
})

export const profileTools = [followProfile, answerFollowRequest, restrictProfile]

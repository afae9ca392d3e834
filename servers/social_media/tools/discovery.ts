import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { listed, listedPost } from '../fields.js'
import { isVisible, me, relationTo } from '../rules.js'
import { subjectOf } from '../sampling.js'
import { FEEDS, type Hashtag, type Post, type SocialDb, tool } from '../schema.js'

const TRENDS = 5

const findProfile = tool({
  name: 'find_profile',
  description:
    'Find profiles by name or part of it, and how they stand to you: "asking" ones wait for your answer to their follow request. Who has blocked you is not found.',
  input: z.strictObject({ name: z.string().min(2).max(40).describe('Name or part of it.') }),
  output: z.object({
    found: z.int(),
    profiles: z.array(
      z.object({
        name: z.string(),
        profile: ref('profile'),
        private: z.boolean(),
        followers: z.int(),
        relation: z.string(),
      }),
    ),
  }),
  pages: { profiles: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name } = random.pick(db.profiles.list(({ profile }) => !db.blocks.has(`${profile}>${me(db)}`)))
    const asked = random.chance(0.2) ? random.pick(name.split(' ')) : name
    return { name: asked, ...bound }
  },
  run({ name }, { db }) {
    const own = me(db)
    const matches = mentioning(name)
    const found = db.profiles.list(({ lower, profile }) => matches(lower) && !db.blocks.has(`${profile}>${own}`))
    const profiles = found.map((row) => ({
      name: row.name,
      profile: row.profile,
      private: row.private,
      followers: row.followers,
      relation: relationTo(db, row),
    }))
    return { found: found.length, profiles }
  },
})

const searchPosts = tool({
  name: 'search_posts',
  description:
    'Search the posts and replies that you can see, the newest first, by words of the text, the author or the hashtag.',
  input: z.strictObject({ words: z.string().min(2).max(80).describe('Words that must all occur.') }),
  output: z.object({ found: z.int(), posts: z.array(listedPost) }),
  pages: { posts: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const post = random.pick(db.posts.list((row) => row.reply_to === null && isVisible(db, row)))
    // What a post is about hits one or a few, its hashtag more.
    const words = random.chance(0.2) && post.hashtag ? post.hashtag : (subjectOf(post) ?? post.hashtag)
    return words === null ? null : { words: words.replace(/^(an?|the|that|my) /, ''), ...bound }
  },
  run({ words }, { db }) {
    const matches = mentioning(words)
    const found = db.posts.list((row) => matches(row.lower) && isVisible(db, row)).reverse()
    return { found: found.length, posts: found.map(listed) }
  },
})

const openFeed = tool({
  name: 'open_feed',
  description: `Show the posts of a feed, the newest first: home has those of profiles you follow and have not muted, personal your own, bookmarks the ones you kept.`,
  input: z.strictObject({ feed: z.enum(FEEDS).describe('Which feed.') }),
  output: z.object({ posts: z.array(listedPost) }),
  pages: { posts: 'long' },
  annotations: { readOnly: true },
  sample: ({ random, bound }) => ({ feed: random.pick(FEEDS), ...bound }),
  run: ({ feed }, { db }) => ({ posts: newest(db, feed).map(listed) }),
})

function newest(db: SocialDb, feed: (typeof FEEDS)[number]): Post[] {
  const own = me(db)
  if (feed === 'personal') return db.posts.by('profile', own).toReversed()
  if (feed === 'bookmarks') {
    const kept = db.bookmarks.list().map(({ post }) => db.posts.get(post)!)
    return kept.filter((post) => isVisible(db, post)).reverse()
  }
  const shown = new Set<string>()
  for (const { status, followed } of db.follows.by('follower', own))
    if (status === 'active' && !db.profiles.get(followed)!.muted) shown.add(followed)
  return db.posts.list(({ reply_to, profile }) => reply_to === null && shown.has(profile)).reverse()
}

const listTrends = tool({
  name: 'list_trends',
  description: 'List the five hashtags with the most posts.',
  input: z.strictObject({}),
  output: z.object({ trends: z.array(z.object({ hashtag: ref('hashtag'), posts: z.int() })) }),
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db }) {
    // Inserted one by one: sorting all hashtags took most of the call.
    const trends: Hashtag[] = []
    for (const row of db.hashtags.list()) {
      let place = trends.length
      while (place > 0 && isAhead(row, trends[place - 1]!)) place--
      if (place < TRENDS) trends.splice(place, 0, row)
      if (trends.length > TRENDS) trends.pop()
    }
    return { trends }
  },
})

const isAhead = (a: Hashtag, b: Hashtag): boolean => a.posts > b.posts || (a.posts === b.posts && a.hashtag < b.hashtag)

export const discoveryTools = [findProfile, searchPosts, openFeed, listTrends]

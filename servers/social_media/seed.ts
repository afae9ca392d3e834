import { addMinutes } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { LIMITS } from './rules.js'
import type { Block, DirectMessage, Follow, Like, Post, Profile, Share, SocialTables, Story } from './schema.js'
import * as words from './words.js'

const PROFILES = 40
const POSTS = 72
const REPLIES = 44
/** Minutes before the session at which my latest posts were written: two can still be edited, the others are older. */
const OWN_POSTS = [4, 17, 95, 1500, 2900, 4700, 7300, 9100] as const
/** Minutes before the session at which stories were told: two have expired, one expires a few minutes into the session. */
const STORY_AGES = [2600, 1800, LIMITS.storyMinutes - 6] as const
const STORIES = 24

type Draft = Omit<Post, 'likes' | 'replies' | 'shares'>
interface People {
  readonly own: string
  readonly others: readonly string[]
  readonly names: ReadonlyMap<string, string>
}

/** A member with a private profile among 39 others: some 115 posts and replies, 250 follows, stories of the last day and a half. */
export function seedSocialMedia({ random, start }: SeedContext): SeedRows<SocialTables> {
  const names = new Map(fullNames(random).map((name) => [name.toLowerCase().replace(' ', '-'), name]))
  const [own, ...others] = [...names.keys()] as [string, ...string[]]
  const people: People = { own, others, names }
  const isPrivate = new Set([own, ...random.sample(others, 11)])
  const blocks = seedBlocks(people)
  const follows = seedFollows(random, start, people, isPrivate, blocks)
  const drafts = seedPosts(random, start, people)
  const reactions = seedReactions(random, people, drafts, isPrivate)
  const [likes, shares] = [tally(reactions.likes, 'post'), tally(reactions.shares, 'post')]
  const [replies, tagged] = [tally(drafts, 'reply_to'), tally(drafts, 'hashtag')]
  const posts = drafts.map((draft): Post => {
    const count = (counts: Map<string, number>) => counts.get(draft.post) ?? 0
    return { ...draft, likes: count(likes), replies: count(replies), shares: count(shares) }
  })
  return {
    account: [{ account: 'mine', profile: own }],
    profiles: seedProfiles(random, people, isPrivate, follows, posts),
    follows,
    blocks,
    hashtags: Object.keys(words.HASHTAGS).map((hashtag) => ({ hashtag, posts: tagged.get(hashtag) ?? 0 })),
    posts,
    ...reactions,
    bookmarks: random
      .sample(
        posts.filter(({ profile }) => profile !== own && !isPrivate.has(profile)),
        random.int(4, LIMITS.bookmarks - 2),
      )
      .map(({ post }) => ({ post })),
    stories: seedStories(random, start, others),
    direct_messages: seedMessages(random, start, people, follows),
  }
}

/** Fewer first and last names than people, so that there are namesakes of both kinds. */
function fullNames(random: SeededRandom): string[] {
  const firsts = random.sample(words.FIRST_NAMES, 26)
  const lasts = random.sample(words.LAST_NAMES, 24)
  const names = new Set<string>()
  for (let i = 0; names.size < PROFILES; i++)
    names.add(`${firsts[i % firsts.length]} ${i < lasts.length ? lasts[i] : random.pick(lasts)}`)
  return random.shuffle([...names])
}

/** The first two of the others I have blocked, the next two have blocked me. */
function seedBlocks({ own, others }: People): Block[] {
  const pairs = [
    [own, others[0]!],
    [own, others[1]!],
    [others[2]!, own],
    [others[3]!, own],
    [others[4]!, others[5]!],
  ] as const
  return pairs.map(([blocker, blocked]) => ({ block: `${blocker}>${blocked}`, blocker, blocked }))
}

function seedFollows(
  random: SeededRandom,
  start: string,
  { own, others }: People,
  isPrivate: ReadonlySet<string>,
  blocks: readonly Block[],
): Follow[] {
  const apart = new Set(blocks.flatMap(({ blocker, blocked }) => [`${blocker}>${blocked}`, `${blocked}>${blocker}`]))
  const links = new Map<string, Follow>()
  const link = (follower: string, followed: string, status: Follow['status']): void => {
    const follow = `${follower}>${followed}`
    if (follower === followed || apart.has(follow) || links.has(follow)) return
    const date = addMinutes(start, -1440 * random.int(1, 400)).slice(0, 10)
    links.set(follow, { follow, follower, followed, status, date })
  }
  const reachable = others.slice(4)
  const [asking, near] = [random.sample(reachable, 5), random.sample(reachable, 20)]
  for (const profile of asking) link(profile, own, 'requested')
  for (const [i, profile] of near.entries()) {
    const waits = isPrivate.has(profile) && i % 3 === 0
    if (i < 15) link(own, profile, waits ? 'requested' : 'active')
    if (i % 2 === 0) link(profile, own, 'active')
  }
  for (const follower of others) for (const followed of random.sample(others, 5)) link(follower, followed, 'active')
  return [...links.values()]
}

/** Ascending keys with gaps, such as `post-42`: two digits, so that they never meet the three of keys made in a session. */
function shortKeys(random: SeededRandom, prefix: string, count: number): string[] {
  const numbers = twoDigitNumbers(random, count)
  return numbers.sort((a, b) => a - b).map((number) => `${prefix}-${number}`)
}

/** Posts in order of time, each about something else, then replies to them likewise. */
function seedPosts(random: SeededRandom, start: string, { own, others, names }: People): Draft[] {
  const subjects = Object.entries(words.HASHTAGS)
  // Some hashtags are in fashion: they get two or three of the posts that others get one of.
  const tags = [...subjects, ...random.sample(subjects, 9), ...random.sample(subjects, 5)]
  const texts = new Set<string>()
  const ages = [...OWN_POSTS, ...Array.from({ length: POSTS - OWN_POSTS.length }, () => random.int(6, 9000))]
  const posts = ages.map((age, i) => {
    const profile = i < OWN_POSTS.length ? own : others[i % others.length]!
    const [hashtag, things] = i < subjects.length ? subjects[i]! : random.pick(tags)
    let text = ''
    do text = random.pick(words.TEMPLATES).replace('{}', random.pick(things))
    while (texts.has(text))
    texts.add(text)
    return { profile, hashtag, reply_to: null, text, at: addMinutes(start, -age) }
  })
  posts.sort(byTime)
  const keys = { post: shortKeys(random, 'post', POSTS), reply: shortKeys(random, 'reply', REPLIES) }
  const keyed = posts.map((post, i) => ({ ...post, post: keys.post[i]! }))
  const replies = random
    .sample(keyed, REPLIES)
    .map(({ post, at }, i) => {
      const age = random.int(1, Math.max(1, (Date.parse(start) - Date.parse(at)) / 60_000 - 1))
      const profile = i < 3 ? own : random.pick(others)
      const stated = age < 1440 && profile === own ? 1440 : age
      return { profile, reply_to: post, text: random.pick(words.REPLIES), at: later(at, addMinutes(start, -stated)) }
    })
    .sort(byTime)
    .map((reply, i) => ({ ...reply, hashtag: null, post: keys.reply[i]! }))
  return [...keyed, ...replies].sort(byTime).map((draft) => ({
    ...draft,
    lower: `${draft.text} ${names.get(draft.profile)} ${draft.hashtag ?? ''}`.toLowerCase(),
    edited: random.chance(0.05),
  }))
}

const later = (a: string, b: string): string => (a > b ? a : b)
const byTime = ascending('at')

function seedReactions(
  random: SeededRandom,
  { own, others }: People,
  posts: readonly Draft[],
  isPrivate: ReadonlySet<string>,
): { likes: Like[]; shares: Share[] } {
  const likes: Like[] = []
  const shares: Share[] = []
  for (const { post, profile: author } of posts) {
    const public_ = !isPrivate.has(author)
    const crowd = random.sample(others, random.pick([0, 1, 2, 2, 3, 4, 6]))
    if (public_ && random.chance(0.15)) crowd.push(own)
    for (const profile of crowd) {
      likes.push({ like: `${profile}>${post}`, profile, post })
      if (public_ && profile !== author && random.chance(0.2))
        shares.push({ share: `${profile}>${post}`, profile, post })
    }
  }
  return { likes, shares }
}

/** How often each value of `field` occurs. */
function tally<F extends string>(rows: readonly Readonly<Record<F, string | null>>[], field: F): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = row[field]
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

function seedProfiles(
  random: SeededRandom,
  { own, names }: People,
  isPrivate: ReadonlySet<string>,
  follows: readonly Follow[],
  posts: readonly Post[],
): Profile[] {
  const active = follows.filter(({ status }) => status === 'active')
  const muted = random.sample(
    active.filter(({ follower }) => follower === own).map(({ followed }) => followed),
    2,
  )
  const [followers, following] = [tally(active, 'followed'), tally(active, 'follower')]
  const written = tally(posts, 'profile')
  const profiles = [...names].map(
    ([profile, name]): Profile => ({
      profile,
      name,
      lower: name.toLowerCase(),
      private: isPrivate.has(profile),
      inbox: profile !== own && random.chance(0.5) ? 'open' : 'followed',
      replies: random.chance(0.2) ? 'followed' : 'everyone',
      muted: muted.includes(profile),
      followers: followers.get(profile) ?? 0,
      following: following.get(profile) ?? 0,
      posts: written.get(profile) ?? 0,
    }),
  )
  return random.shuffle(profiles)
}

function seedStories(random: SeededRandom, start: string, others: readonly string[]): Story[] {
  const tellers = random.sample(others.slice(2), STORIES)
  return tellers
    .map((profile, i) => ({
      profile,
      text: random.pick(words.STORIES),
      post: null,
      at: addMinutes(start, -(STORY_AGES[i] ?? random.int(30, 1300))),
    }))
    .sort(byTime)
    .map((story, i) => ({ story: `story-${10 + i}`, ...story }))
}

/** Conversations with followers, some with strangers whose inbox is open, of whom one in two has not answered yet. */
function seedMessages(
  random: SeededRandom,
  start: string,
  people: People,
  follows: readonly Follow[],
): DirectMessage[] {
  const followers = new Set(
    follows.filter(({ followed, status }) => followed === people.own && status === 'active').map((row) => row.follower),
  )
  return random
    .sample(people.others.slice(4), 14)
    .flatMap((profile, i) => {
      const begun = random.int(300, 9000)
      const turns = followers.has(profile) ? random.int(1, 4) : i % 2 === 0 ? 1 : 2
      return Array.from({ length: turns }, (_, turn) => ({
        profile,
        from_me: turn % 2 === 0,
        text: random.pick(words.MESSAGES),
        at: addMinutes(start, -begun + turn * random.int(2, 60)),
      }))
    })
    .sort(byTime)
    .map((message, i) => ({ direct_message: `message-${10 + i}`, ...message }))
}

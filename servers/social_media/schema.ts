import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'

export const FEEDS = ['home', 'personal', 'bookmarks'] as const
export const PLACES = ['feed', 'story'] as const
export const RESTRICTIONS = ['unrestricted', 'muted', 'blocked'] as const
export const ANSWERS = ['accept', 'decline'] as const

const count = z.int().min(0)
const instant = z.iso.datetime()

const profile = z.object({
  profile: z.string(),
  name: z.string(),
  /** The name in lower case, for searches. */
  lower: z.string(),
  /** Posts and stories are for followers, and who wants to follow has to ask. */
  private: z.boolean(),
  /** Who may write to the profile: anyone, or those it follows. */
  inbox: z.enum(['open', 'followed']),
  /** Who may reply to its posts: anyone, or those it follows. */
  replies: z.enum(['everyone', 'followed']),
  /** Whether I keep its posts out of my feed. */
  muted: z.boolean(),
  followers: count,
  following: count,
  /** Posts and replies. */
  posts: count,
})

const follow = z.object({
  /** `follower>followed`. */
  follow: z.string(),
  follower: z.string(),
  followed: z.string(),
  status: z.enum(['active', 'requested']),
  date: z.iso.date(),
})

const block = z.object({ /** `blocker>blocked`. */ block: z.string(), blocker: z.string(), blocked: z.string() })

const hashtag = z.object({ hashtag: z.string(), posts: count })

const post = z.object({
  post: z.string(),
  text: z.string(),
  /** Text, author's name and hashtag in lower case, for searches. */
  lower: z.string(),
  profile: z.string(),
  /** Replies have none. */
  hashtag: z.string().nullable(),
  reply_to: z.string().nullable(),
  at: instant,
  likes: count,
  replies: count,
  shares: count,
  edited: z.boolean(),
})

const like = z.object({ /** `profile>post`. */ like: z.string(), profile: z.string(), post: z.string() })
const share = z.object({ /** `profile>post`. */ share: z.string(), profile: z.string(), post: z.string() })
const bookmark = z.object({ post: z.string() })

const story = z.object({
  story: z.string(),
  profile: z.string(),
  text: z.string(),
  /** The post that the story shares, if it shares one. */
  post: z.string().nullable(),
  at: instant,
})

const directMessage = z.object({
  direct_message: z.string(),
  /** The other side. */
  profile: z.string(),
  from_me: z.boolean(),
  text: z.string(),
  at: instant,
})

export const tables = {
  account: { row: z.object({ account: z.literal('mine'), profile: z.string() }), key: 'account' },
  profiles: { row: profile, key: 'profile', missing: 'unknown_profile' },
  follows: { row: follow, key: 'follow' },
  blocks: { row: block, key: 'block' },
  hashtags: { row: hashtag, key: 'hashtag' },
  posts: { row: post, key: 'post', missing: 'unknown_post' },
  likes: { row: like, key: 'like' },
  shares: { row: share, key: 'share' },
  bookmarks: { row: bookmark, key: 'post' },
  stories: { row: story, key: 'story' },
  direct_messages: { row: directMessage, key: 'direct_message' },
} as const

export const failures = {
  unknown_profile: 'There is no such profile.',
  unknown_post: 'There is no such post.',
  own_profile: 'That is your own profile.',
  own_post: 'That is your own post.',
  not_your_post: 'Only your own posts can be edited.',
  profile_blocked: 'You have blocked this profile.',
  blocked_by_profile: 'This profile has blocked you.',
  profile_private: 'The profile is private and you do not follow it.',
  already_following: 'You follow this profile already.',
  already_requested: 'You have asked to follow this profile already.',
  follow_limit_reached: 'You have followed as many profiles today as is allowed.',
  no_follow_request: 'This profile has not asked to follow you.',
  text_too_long: 'The text is too long.',
  bad_hashtag: 'A hashtag is one word of lower-case letters and digits.',
  duplicate_post: 'You have posted the same text today.',
  daily_limit_reached: 'You have written as many posts and replies today as is allowed.',
  edit_window_closed: 'The post is too old to be edited.',
  replies_limited: 'Only profiles that the author follows may reply.',
  already_liked: 'You like this post already.',
  already_shared: 'You have shared this post already.',
  private_post: 'Posts of private profiles cannot be shared.',
  stories_full: 'You have as many live stories as is allowed.',
  already_bookmarked: 'The post is bookmarked already.',
  bookmarks_full: 'There is no room for another bookmark.',
  no_live_story: 'The profile has no story of the last 24 hours.',
  inbox_closed: 'The profile takes messages only from those it follows.',
  awaiting_answer: 'A profile that does not follow you must answer before you write again.',
} as const

export type SocialTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type SocialDb = Db<SocialTables>
export type SocialView = DbView<SocialTables>
export type Context = ToolContext<SocialTables, FailureCode>
export type Profile = RowOf<SocialTables['profiles']>
export type Follow = RowOf<SocialTables['follows']>
export type Block = RowOf<SocialTables['blocks']>
export type Hashtag = RowOf<SocialTables['hashtags']>
export type Post = RowOf<SocialTables['posts']>
export type Like = RowOf<SocialTables['likes']>
export type Share = RowOf<SocialTables['shares']>
export type Story = RowOf<SocialTables['stories']>
export type DirectMessage = RowOf<SocialTables['direct_messages']>

export const tool = toolMaker(tables, failures)

import { addMinutes } from '../kernel/dates.js'
import type { Obstacle, Post, Profile, SocialView, Story } from './schema.js'

/** The limits of the network: name, value, unit. */
export const LIMITS = {
  /** Length of posts and replies. Characters. */
  text: 120,
  /** Posts and replies of one member a day. */
  postsPerDay: 12,
  /** Follows and requests of one member a day. */
  followsPerDay: 8,
  /** Time in which a post can be edited. Minutes. */
  editMinutes: 30,
  /** How long a story lives. Minutes. */
  storyMinutes: 24 * 60,
  /** Stories of one member that are alive at a time. */
  liveStories: 3,
  bookmarks: 12,
} as const

/** How another profile stands to mine, in one word; what matters most comes first. */
export type Relation =
  | 'you'
  | 'blocked'
  | 'muted'
  | 'asking'
  | 'requested'
  | 'mutual'
  | 'following'
  | 'follower'
  | 'stranger'

export const me = (db: SocialView): string => db.account.get('mine')!.profile

export const follows = (db: SocialView, follower: string, followed: string): boolean =>
  db.follows.get(`${follower}>${followed}`)?.status === 'active'

export function relationTo(db: SocialView, { profile, muted }: Profile): Relation {
  const own = me(db)
  if (profile === own) return 'you'
  if (db.blocks.has(`${own}>${profile}`)) return 'blocked'
  if (muted) return 'muted'
  const mine = db.follows.get(`${own}>${profile}`)?.status
  const theirs = db.follows.get(`${profile}>${own}`)?.status
  if (theirs === 'requested') return 'asking'
  if (mine === 'requested') return 'requested'
  if (mine === 'active') return theirs === 'active' ? 'mutual' : 'following'
  return theirs === 'active' ? 'follower' : 'stranger'
}

/** A block of either side stands between the two. */
export function blockObstacle(db: SocialView, profile: string): Obstacle | undefined {
  const own = me(db)
  if (db.blocks.has(`${own}>${profile}`)) return { code: 'profile_blocked' }
  return db.blocks.has(`${profile}>${own}`) ? { code: 'blocked_by_profile' } : undefined
}

/** Returns why I cannot see what a profile publishes, if so. */
export function viewObstacle(db: SocialView, { profile, private: hidden }: Profile): Obstacle | undefined {
  const blocked = blockObstacle(db, profile)
  if (blocked) return blocked
  const own = me(db)
  return hidden && profile !== own && !follows(db, own, profile) ? { code: 'profile_private' } : undefined
}

/** Returns why I cannot see a post, if so. */
export function postObstacle(db: SocialView, { profile }: Post): Obstacle | undefined {
  return viewObstacle(db, db.profiles.get(profile)!)
}

export const isVisible = (db: SocialView, post: Post): boolean => postObstacle(db, post) === undefined

export function followObstacle(db: SocialView, today: string, { profile }: Profile): Obstacle | undefined {
  const own = me(db)
  if (profile === own) return { code: 'own_profile' }
  const blocked = blockObstacle(db, profile)
  if (blocked) return blocked
  const link = db.follows.get(`${own}>${profile}`)
  if (link) return { code: link.status === 'active' ? 'already_following' : 'already_requested' }
  const made = db.follows.by('follower', own).filter(({ date }) => date === today).length
  return made >= LIMITS.followsPerDay
    ? { code: 'follow_limit_reached', detail: `No more than ${LIMITS.followsPerDay} a day.` }
    : undefined
}

/** Posts and replies that I may still write today. */
export function postsLeft(db: SocialView, today: string): number {
  let left: number = LIMITS.postsPerDay
  for (const { at } of db.posts.by('profile', me(db))) if (at.startsWith(today)) left--
  return left
}

/** Returns the obstacle to writing a text, if any, when `left` more texts are allowed today. */
export function writingObstacle(text: string, left: number): Obstacle | undefined {
  if (text.length > LIMITS.text)
    return { code: 'text_too_long', detail: `It has ${text.length} characters, ${LIMITS.text} are allowed.` }
  return left <= 0 ? { code: 'daily_limit_reached' } : undefined
}

export function replyObstacle(db: SocialView, post: Post): Obstacle | undefined {
  const author = db.profiles.get(post.profile)!
  const own = me(db)
  const limited = author.replies === 'followed' && author.profile !== own && !follows(db, author.profile, own)
  return viewObstacle(db, author) ?? (limited ? { code: 'replies_limited' } : undefined)
}

export function editObstacle(db: SocialView, now: string, { profile, at }: Post): Obstacle | undefined {
  if (profile !== me(db)) return { code: 'not_your_post' }
  return at < addMinutes(now, -LIMITS.editMinutes)
    ? { code: 'edit_window_closed', detail: `Posts can be edited for ${LIMITS.editMinutes} minutes.` }
    : undefined
}

/** The latest story of a profile, if it is still alive. */
export function liveStory(db: SocialView, now: string, profile: string): Story | undefined {
  const latest = db.stories.by('profile', profile).at(-1)
  return latest && latest.at > addMinutes(now, -LIMITS.storyMinutes) ? latest : undefined
}

/** How many stories of a profile are alive. */
export function liveStories(db: SocialView, now: string, profile: string): number {
  const since = addMinutes(now, -LIMITS.storyMinutes)
  return db.stories.by('profile', profile).filter(({ at }) => at > since).length
}

export function shareObstacle(db: SocialView, now: string, post: Post, place: string): Obstacle | undefined {
  const own = me(db)
  if (post.profile === own) return { code: 'own_post' }
  const hidden = postObstacle(db, post)
  if (hidden) return hidden
  if (db.profiles.get(post.profile)!.private) return { code: 'private_post' }
  if (db.shares.has(`${own}>${post.post}`)) return { code: 'already_shared' }
  if (place === 'feed') return undefined
  return liveStories(db, now, own) >= LIMITS.liveStories
    ? { code: 'stories_full', detail: `No more than ${LIMITS.liveStories} stories are live at a time.` }
    : undefined
}

export function bookmarkObstacle(db: SocialView, post: Post): Obstacle | undefined {
  const hidden = postObstacle(db, post)
  if (hidden) return hidden
  if (db.bookmarks.has(post.post)) return { code: 'already_bookmarked' }
  return db.bookmarks.count() >= LIMITS.bookmarks
    ? { code: 'bookmarks_full', detail: `There are ${LIMITS.bookmarks} bookmarks, the most there may be.` }
    : undefined
}

/**
 * Returns the obstacle to writing to a profile, if any. I can always write to my followers. I can write to others only
 * if their inbox is open, and then once until they answer.
 */
export function messageObstacle(db: SocialView, { profile, inbox }: Profile): Obstacle | undefined {
  const own = me(db)
  if (profile === own) return { code: 'own_profile' }
  const blocked = blockObstacle(db, profile)
  if (blocked) return blocked
  if (follows(db, profile, own)) return undefined
  if (inbox !== 'open') return { code: 'inbox_closed' }
  const messages = db.direct_messages.by('profile', profile)
  return messages.length > 0 && messages.every(({ from_me }) => from_me) ? { code: 'awaiting_answer' } : undefined
}

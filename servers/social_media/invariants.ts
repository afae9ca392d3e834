import { addMinutes } from '../kernel/dates.js'
import type { Invariant } from '../kernel/define-environment.js'
import { LIMITS, me } from './rules.js'
import type { Post, Profile, SocialTables, SocialView } from './schema.js'

type SocialInvariant = Invariant<SocialTables>

const activeLinks = (db: SocialView, side: 'follower' | 'followed', profile: string): number =>
  db.follows.by(side, profile).filter(({ status }) => status === 'active').length

const profilesCount: SocialInvariant = {
  name: 'followers, followed profiles and posts of a profile are as many as there are records of them',
  check(db) {
    const agrees = ({ profile, followers, following, posts }: Profile) =>
      followers === activeLinks(db, 'followed', profile) &&
      following === activeLinks(db, 'follower', profile) &&
      posts === db.posts.by('profile', profile).length
    return db.profiles.find((row) => !agrees(row))?.profile
  },
}

const postsCount: SocialInvariant = {
  name: 'likes, replies and shares of a post are as many as there are records of them',
  check(db) {
    const agrees = ({ post, likes, replies, shares }: Post) =>
      likes === db.likes.by('post', post).length &&
      replies === db.posts.by('reply_to', post).length &&
      shares === db.shares.by('post', post).length
    return db.posts.find((row) => !agrees(row))?.post
  },
}

const hashtagsCount: SocialInvariant = {
  name: 'a hashtag counts its posts, and every post has one that exists unless it is a reply',
  check(db) {
    const lost = db.posts.find(({ hashtag, reply_to }) =>
      reply_to === null ? hashtag === null || !db.hashtags.has(hashtag) : hashtag !== null,
    )
    return lost?.post ?? db.hashtags.find((row) => row.posts !== db.posts.by('hashtag', row.hashtag).length)?.hashtag
  },
}

const blocksCutBothWays: SocialInvariant = {
  name: 'nobody follows, or asks to follow, across a block',
  check: (db) =>
    db.blocks.find(
      ({ blocker, blocked }) => db.follows.has(`${blocker}>${blocked}`) || db.follows.has(`${blocked}>${blocker}`),
    )?.block,
}

const requestsGoToPrivateProfiles: SocialInvariant = {
  name: 'only private profiles have to be asked',
  check: (db) =>
    db.follows.find(({ status, followed }) => status === 'requested' && !db.profiles.get(followed)!.private)?.follow,
}

const dailyLimitHolds: SocialInvariant = {
  name: 'I write and follow no more in a day than the limits allow',
  check(db) {
    const days = new Map<string, number>()
    for (const { at } of db.posts.by('profile', me(db))) {
      const day = `wrote on ${at.slice(0, 10)}`
      days.set(day, (days.get(day) ?? 0) + 1 / LIMITS.postsPerDay)
    }
    for (const { date } of db.follows.by('follower', me(db))) {
      const day = `followed on ${date}`
      days.set(day, (days.get(day) ?? 0) + 1 / LIMITS.followsPerDay)
    }
    return [...days].find(([, share]) => share > 1.000_001)?.[0]
  },
}

const nothingDisappears: SocialInvariant = {
  name: 'posts and messages are only added to; of an old post only its own author changes the text',
  check(db, seed) {
    const changed = seed.posts.find((old) => {
      const now = db.posts.get(old.post)
      if (!now || now.at !== old.at || now.profile !== old.profile || now.hashtag !== old.hashtag) return true
      return now.text !== old.text && now.profile !== me(db)
    })
    const lost = seed.direct_messages.find((old) => db.direct_messages.get(old.direct_message)?.text !== old.text)
    return changed?.post ?? lost?.direct_message
  },
}

const textsAreShort: SocialInvariant = {
  name: 'no post is longer than allowed and its search text follows its text',
  check: (db) =>
    db.posts.find(({ text, lower }) => text.length > LIMITS.text || !lower.startsWith(text.toLowerCase()))?.post,
}

const repliesFollow: SocialInvariant = {
  name: 'a reply answers a post that exists and is not younger',
  check: (db) =>
    db.posts.find(({ reply_to, at }) => reply_to !== null && !((db.posts.get(reply_to)?.at ?? '9') <= at))?.post,
}

const storiesAreFew: SocialInvariant = {
  name: 'I never have more live stories than allowed',
  check(db) {
    const stories = db.stories.by('profile', me(db))
    return stories.find(({ at }, i) => {
      const next = stories[i + LIMITS.liveStories]
      return next !== undefined && next.at < addMinutes(at, LIMITS.storyMinutes)
    })?.story
  },
}

const privatePostsStay: SocialInvariant = {
  name: 'no post of a private profile is shared, and nobody shares their own',
  check: (db) =>
    db.shares.find(({ profile, post }) => {
      const author = db.posts.get(post)!.profile
      return author === profile || db.profiles.get(author)!.private
    })?.share,
}

const bookmarksAreFew: SocialInvariant = {
  name: 'there are no more bookmarks than allowed, each of a post that exists',
  check(db) {
    if (db.bookmarks.count() > LIMITS.bookmarks) return `${db.bookmarks.count()} bookmarks`
    return db.bookmarks.find(({ post }) => !db.posts.has(post))?.post
  },
}

export const socialInvariants = [
  profilesCount,
  postsCount,
  hashtagsCount,
  blocksCutBothWays,
  requestsGoToPrivateProfiles,
  dailyLimitHolds,
  nothingDisappears,
  textsAreShort,
  repliesFollow,
  storiesAreFew,
  privatePostsStay,
  bookmarksAreFew,
]

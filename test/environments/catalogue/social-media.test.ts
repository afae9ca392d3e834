import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { socialMedia } from '../../../servers/social_media/index.js'
import {
  bookmarkObstacle,
  followObstacle,
  follows,
  isVisible,
  LIMITS,
  liveStory,
  me,
  messageObstacle,
  postsLeft,
  relationTo,
  replyObstacle,
  shareObstacle,
  viewObstacle,
} from '../../../servers/social_media/rules.js'
import type { Post, Profile, SocialView } from '../../../servers/social_media/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { refusal, succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'

const dbOf = (session: Session) => session.db as unknown as SocialView
const open = (seed: number) => Session.open(generateSeedState(socialMedia, seed))
const own = (s: Session) => dbOf(s).profiles.get(me(dbOf(s)))!
const profile = (s: Session, fits: (row: Profile) => boolean) => dbOf(s).profiles.find(fits)!
const post = (s: Session, fits: (row: Post) => boolean) => dbOf(s).posts.find(fits)!
const relation = (s: Session, key: string) => relationTo(dbOf(s), dbOf(s).profiles.get(key)!)
const related = (s: Session, ...wanted: string[]) => profile(s, (row) => wanted.includes(relation(s, row.profile)))
const blocksMe = (s: Session) => dbOf(s).blocks.find(({ blocked }) => blocked === me(dbOf(s)))!.blocker
const isOwn = (s: Session) => (row: Post) => row.profile === me(dbOf(s))
const canShare = (s: Session) => (row: Post) => shareObstacle(dbOf(s), s.now(), row, 'feed') === undefined

const publish = (text: string, hashtag = 'chess') => ['publish_post', { text, hashtag }] as const
const publishAll = (s: Session) => {
  for (let i = 0; postsLeft(dbOf(s), TODAY) > 0; i++) succeed(s, ...publish(`Move number ${i}`))
}
const feedOf = (s: Session, feed: string) => succeed(s, 'open_feed', { feed }).posts as { post: string }[]

checkEnvironmentContract(socialMedia, {
  sampleFloor: 1,
  provoke: {
    unknown_profile: () => ['follow_profile', { profile: 'nobody-known' }],
    unknown_post: () => ['like_post', { post: 'post-7' }],
    own_profile: (s) => ['restrict_profile', { profile: own(s).profile, restriction: 'muted' }],
    own_post: (s) => ['share_post', { post: post(s, isOwn(s)).post, place: 'feed' }],
    not_your_post: (s) => ['edit_post', { post: post(s, (row) => !isOwn(s)(row)).post, text: 'Something else' }],
    profile_blocked: (s) => ['follow_profile', { profile: related(s, 'blocked').profile }],
    blocked_by_profile: (s) => ['send_direct_message', { profile: blocksMe(s), text: 'Why though' }],
    profile_private: (s) => {
      const isHidden = (row: Post) => viewObstacle(dbOf(s), dbOf(s).profiles.get(row.profile)!)?.code
      return ['like_post', { post: post(s, (row) => isHidden(row) === 'profile_private').post }]
    },
    already_following: (s) => ['follow_profile', { profile: related(s, 'following', 'mutual').profile }],
    already_requested: (s) => {
      const hidden = profile(s, (row) => row.private && !followObstacle(dbOf(s), TODAY, row))
      succeed(s, 'follow_profile', { profile: hidden.profile })
      return ['follow_profile', { profile: hidden.profile }]
    },
    follow_limit_reached: (s) => {
      const strangers = dbOf(s).profiles.list((row) => !followObstacle(dbOf(s), TODAY, row))
      for (const row of strangers.slice(0, LIMITS.followsPerDay)) succeed(s, 'follow_profile', { profile: row.profile })
      return ['follow_profile', { profile: strangers[LIMITS.followsPerDay]!.profile }]
    },
    no_follow_request: (s) => ['answer_follow_request', { profile: related(s, 'stranger').profile, answer: 'accept' }],
    text_too_long: () => publish('x'.repeat(LIMITS.text + 1)),
    bad_hashtag: () => publish('Castling late', 'Chess Club'),
    duplicate_post: (s) => {
      succeed(s, ...publish('Castling late'))
      return publish('Castling late', 'cycling')
    },
    daily_limit_reached: (s) => {
      publishAll(s)
      const row = post(s, (candidate) => !replyObstacle(dbOf(s), candidate))
      return ['reply_to_post', { post: row.post, text: 'One more' }]
    },
    edit_window_closed: (s) => [
      'edit_post',
      { post: post(s, (row) => isOwn(s)(row) && row.at < '2026-03-02T08:00').post, text: 'Too late' },
    ],
    replies_limited: (s) => [
      'reply_to_post',
      { post: post(s, (row) => replyObstacle(dbOf(s), row)?.code === 'replies_limited').post, text: 'May I' },
    ],
    already_liked: (s) => {
      const key = post(s, (row) => isVisible(dbOf(s), row) && !dbOf(s).likes.has(`${own(s).profile}>${row.post}`)).post
      succeed(s, 'like_post', { post: key })
      return ['like_post', { post: key }]
    },
    already_shared: (s) => {
      const key = post(s, canShare(s)).post
      succeed(s, 'share_post', { post: key, place: 'feed' })
      return ['share_post', { post: key, place: 'story' }]
    },
    private_post: (s) => [
      'share_post',
      {
        post: post(s, (row) => shareObstacle(dbOf(s), s.now(), row, 'feed')?.code === 'private_post').post,
        place: 'feed',
      },
    ],
    stories_full: (s) => {
      for (let i = 0; i < LIMITS.liveStories; i++)
        succeed(s, 'share_post', { post: post(s, canShare(s)).post, place: 'story' })
      return ['share_post', { post: post(s, canShare(s)).post, place: 'story' }]
    },
    already_bookmarked: (s) => {
      const key = post(s, (row) => !bookmarkObstacle(dbOf(s), row)).post
      succeed(s, 'bookmark_post', { post: key })
      return ['bookmark_post', { post: key }]
    },
    bookmarks_full: (s) => {
      const free = dbOf(s).posts.list((row) => !bookmarkObstacle(dbOf(s), row))
      for (let i = 0; dbOf(s).bookmarks.count() < LIMITS.bookmarks; i++)
        succeed(s, 'bookmark_post', { post: free[i]!.post })
      return ['bookmark_post', { post: free.at(-1)!.post }]
    },
    no_live_story: (s) => {
      const isSilent = (row: Profile) => !viewObstacle(dbOf(s), row) && !liveStory(dbOf(s), s.now(), row.profile)
      return ['view_story', { profile: profile(s, isSilent).profile }]
    },
    inbox_closed: (s) => [
      'send_direct_message',
      { profile: profile(s, (row) => messageObstacle(dbOf(s), row)?.code === 'inbox_closed').profile, text: 'Hello' },
    ],
    awaiting_answer: (s) => {
      const stranger = profile(s, (row) => {
        const fresh = dbOf(s).direct_messages.by('profile', row.profile).length === 0
        return fresh && !follows(dbOf(s), row.profile, own(s).profile) && !messageObstacle(dbOf(s), row)
      })
      succeed(s, 'send_direct_message', { profile: stranger.profile, text: 'Hello' })
      return ['send_direct_message', { profile: stranger.profile, text: 'Hello again' }]
    },
  },
})

test('a block ends following in both directions, and lifting it does not bring that back', () => {
  const session = open(1)
  const friend = related(session, 'mutual')
  const before = own(session)
  const stated = succeed(session, 'restrict_profile', { profile: friend.profile, restriction: 'blocked' })
  assert.is(stated.relation, 'blocked')
  const blocked = dbOf(session).profiles.get(friend.profile)!
  assert.equal([own(session).followers, own(session).following], [before.followers - 1, before.following - 1])
  assert.equal([blocked.followers, blocked.following], [friend.followers - 1, friend.following - 1])
  for (const tool of ['view_story', 'follow_profile'])
    assert.is(refusal(session, tool, { profile: friend.profile }), 'profile_blocked')
  const lifted = succeed(session, 'restrict_profile', { profile: friend.profile, restriction: 'unrestricted' })
  assert.is(lifted.relation, 'stranger')
  assert.equal(session.violations(), [])
})

test('who has blocked me is not found, and their posts are out of reach', () => {
  const session = open(2)
  const blocker = dbOf(session).profiles.get(blocksMe(session))!
  const { profiles } = succeed(session, 'find_profile', { name: blocker.name }) as { profiles: { profile: string }[] }
  assert.not.ok(profiles.some((row) => row.profile === blocker.profile))
  for (const row of dbOf(session).posts.by('profile', blocker.profile)) {
    assert.is(refusal(session, 'like_post', { post: row.post }), 'blocked_by_profile')
    const found = succeed(session, 'search_posts', { words: row.text }).posts as { post: string }[]
    assert.not.ok(found.some((entry) => entry.post === row.post))
  }
})

test('following a private profile is a request that opens nothing yet', () => {
  const session = open(3)
  const hidden = profile(session, (row) => row.private && !followObstacle(dbOf(session), TODAY, row))
  const stated = succeed(session, 'follow_profile', { profile: hidden.profile })
  assert.equal([stated.relation, stated.followers], ['requested', hidden.followers])
  assert.is(refusal(session, 'view_story', { profile: hidden.profile }), 'profile_private')
})

test('an accepted request makes a follower who can be written to, a declined one leaves nothing', () => {
  const session = open(4)
  const closed = (row: Profile) => relationTo(dbOf(session), row) === 'asking' && row.inbox === 'followed'
  const asking = profile(session, closed)
  const letter = { profile: asking.profile, text: 'Welcome' }
  assert.is(refusal(session, 'send_direct_message', letter), 'inbox_closed')
  const other = session.fork()
  const { followers } = own(session)
  const stated = succeed(session, 'answer_follow_request', { profile: asking.profile, answer: 'accept' })
  assert.is(stated.your_followers, followers + 1)
  assert.is(refusal(session, 'send_direct_message', letter), 'succeeded')
  const declined = succeed(other, 'answer_follow_request', { profile: asking.profile, answer: 'decline' })
  assert.is(declined.your_followers, followers)
  assert.is(refusal(other, 'send_direct_message', letter), 'inbox_closed')
  assert.is(refusal(other, 'answer_follow_request', { profile: asking.profile, answer: 'accept' }), 'no_follow_request')
})

test('a story that is nearly a day old expires while one is at work', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const session = open(seed)
    const { profile: teller } = dbOf(session).stories.find(({ at }) => at === '2026-03-01T09:06:00Z')!
    if (viewObstacle(dbOf(session), dbOf(session).profiles.get(teller)!)) continue
    assert.is(succeed(session, 'view_story', { profile: teller }).expires, '2026-03-02T09:06:00Z')
    for (let i = 0; i < 6; i++) succeed(session, ...publish(`Move number ${i}`))
    assert.is(refusal(session, 'view_story', { profile: teller }), 'no_live_story')
    return
  }
  assert.unreachable('no seed shows the story')
})

test('a post can be edited for half an hour and is found under its new text only', () => {
  const session = open(5)
  const { post: key } = succeed(session, ...publish('Queens gmabit'))
  succeed(session, 'edit_post', { post: key, text: 'Queens gambit' })
  assert.is(succeed(session, 'search_posts', { words: 'queens gmabit' }).found, 0)
  assert.is(succeed(session, 'search_posts', { words: 'queens gambit' }).found, 1)
  // The edit took one minute; every change below takes another.
  const { profile: someone } = related(session, 'stranger')
  for (let i = 2; i < LIMITS.editMinutes; i++)
    succeed(session, 'restrict_profile', { profile: someone, restriction: i % 2 === 0 ? 'muted' : 'unrestricted' })
  assert.is(refusal(session, 'edit_post', { post: key, text: 'Kings gambit' }), 'succeeded')
  assert.is(refusal(session, 'edit_post', { post: key, text: 'Kings gambit' }), 'edit_window_closed')
})

test('a text of the full length is published, one character more is refused in a post, a reply and an edit', () => {
  const session = open(5)
  const full = 'a'.repeat(LIMITS.text)
  const { post: key } = succeed(session, ...publish(full))
  assert.is(refusal(session, 'reply_to_post', { post: key, text: `${full}a` }), 'text_too_long')
  assert.is(refusal(session, 'edit_post', { post: key, text: `${full}a` }), 'text_too_long')
})

test('a muted profile leaves the home feed and stays where one looks for it', () => {
  const session = open(6)
  const [first] = feedOf(session, 'home')
  const author = dbOf(session).posts.get(first!.post)!.profile
  succeed(session, 'restrict_profile', { profile: author, restriction: 'muted' })
  const feed = feedOf(session, 'home') as { post: string; profile: string }[]
  assert.not.ok(feed.some((row) => row.profile === author))
  assert.ok(isVisible(dbOf(session), dbOf(session).posts.get(first!.post)!))
  assert.ok(
    (succeed(session, 'search_posts', { words: dbOf(session).posts.get(first!.post)!.text }).found as number) > 0,
  )
})

test('the home feed has what followed profiles posted, the newest first', () => {
  const session = open(7)
  const feed = feedOf(session, 'home').map((row) => dbOf(session).posts.get(row.post)!)
  assert.is(feed.length, 4)
  for (const [i, row] of feed.entries()) {
    assert.ok(follows(dbOf(session), own(session).profile, row.profile))
    if (i > 0) assert.ok(feed[i - 1]!.at >= row.at)
  }
  const { post: key } = succeed(session, ...publish('Castling late'))
  assert.is(feedOf(session, 'personal')[0]!.post, key)
})

test('a post shared as a story can be viewed there and liked from there', () => {
  const session = open(8)
  const shared = post(session, canShare(session))
  const stated = succeed(session, 'share_post', { post: shared.post, place: 'story' })
  assert.equal([stated.shares, stated.live_stories], [shared.shares + 1, 1])
  const story = succeed(session, 'view_story', { profile: own(session).profile })
  assert.equal([story.story, story.post], [shared.text, shared.post])
  assert.is(
    succeed(session, 'share_post', { post: post(session, canShare(session)).post, place: 'feed' }).live_stories,
    undefined,
  )
})

test('bookmarks of a blocked profile are hidden until the block is lifted', () => {
  const session = open(9)
  const kept = post(session, (row) => !bookmarkObstacle(dbOf(session), row) && !isOwn(session)(row))
  succeed(session, 'bookmark_post', { post: kept.post })
  assert.is(feedOf(session, 'bookmarks')[0]!.post, kept.post)
  succeed(session, 'restrict_profile', { profile: kept.profile, restriction: 'blocked' })
  assert.not.ok(feedOf(session, 'bookmarks').some((row) => row.post === kept.post))
  succeed(session, 'restrict_profile', { profile: kept.profile, restriction: 'unrestricted' })
  const isOpen = viewObstacle(dbOf(session), dbOf(session).profiles.get(kept.profile)!) === undefined
  assert.is(
    feedOf(session, 'bookmarks').some((row) => row.post === kept.post),
    isOpen,
  )
})

test('a hashtag that was never used can become a trend', () => {
  const session = open(10)
  for (let i = 0; i < 6; i++) succeed(session, ...publish(`Kite number ${i}`, 'kites'))
  const { trends } = succeed(session, 'list_trends', {}) as { trends: { hashtag: string; posts: number }[] }
  assert.ok(trends.some(({ hashtag, posts }) => hashtag === 'kites' && posts === 6))
  assert.ok(trends.every(({ posts }, i) => i === 0 || trends[i - 1]!.posts >= posts))
})

test('the text of a post usually finds just that post', () => {
  let single = 0
  let texts = 0
  for (let seed = 1; seed <= 5; seed++) {
    const session = open(seed)
    for (const row of dbOf(session).posts.list(({ reply_to }) => reply_to === null)) {
      if (!isVisible(dbOf(session), row)) continue
      texts++
      if (succeed(session, 'search_posts', { words: row.text }).found === 1) single++
    }
  }
  assert.ok(single >= 0.97 * texts, `${single} of ${texts}`)
})

test.run()

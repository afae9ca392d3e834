import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_profile: {
    goal: "look for somebody's profile",
    answer: 'I found {found:profile}[: {profiles*{name} ({followers:follower}{private?, private|})}].',
    wishes: ['find a person'],
  },
  search_posts: {
    goal: 'look for a post',
    answer: 'I found {found:post}[: {posts*"{text}" by {profile} ({likes:like})}].',
  },
  open_feed: {
    goal: 'see what is new in my feed',
    answer: 'The newest {posts=post is|posts are} {posts*"{text}" by {profile} ({likes:like})}.',
    said: ['feed'],
  },
  list_trends: { goal: 'see what is trending', answer: 'Trending now: {trends*{hashtag} with {posts:post}}.' },
  publish_post: {
    goal: 'post something',
    answer: 'Your post is out under {hashtag}: "{text}"',
    checks: [],
  },
  edit_post: {
    goal: 'change a post of mine',
    answer: 'Your post now says: "{text}"',
    checks: [],
  },
  reply_to_post: {
    goal: 'reply to a post',
    answer: 'I replied "{text}"; the post has {replies:reply} now.',
    checks: [],
  },
  like_post: {
    goal: 'like a post',
    answer: 'I liked "{text}" by {profile}, which has {likes:like} now.',
    said: ['post'],
    next: ['reply_to_post', 'share_post', 'bookmark_post', 'follow_profile'],
    checks: [],
  },
  share_post: {
    goal: 'share a post',
    answer: 'I shared "{text}" to your {place}; it has {shares:share} now.',
    checks: [],
  },
  bookmark_post: {
    goal: 'bookmark a post',
    answer: 'I bookmarked "{text}"; you have {bookmarks:bookmark} now.',
    next: ['follow_profile'],
    checks: [],
  },
  follow_profile: {
    goal: 'follow somebody',
    answer: 'You {private?have asked to|now} follow {name}, who has {followers:follower}.',
    next: ['send_direct_message'],
    checks: ['view_story'],
  },
  answer_follow_request: {
    goal: 'answer a follow request',
    answer: '{name} {accepted?follows you now|was turned down}; you have {your_followers:follower}.',
    // Following back is none of it: whether somebody was turned down is not to be seen afterwards.
    next: ['send_direct_message'],
    checks: ['view_story'],
  },
  restrict_profile: { goal: 'restrict somebody', answer: '{name} is {restriction} now.', checks: [] },
  view_story: { goal: "see somebody's story", answer: 'The story of {name}, up until {expires}: "{story}"' },
  send_direct_message: {
    goal: 'write somebody a direct message',
    answer: 'Your message went to {name}.',
    checks: [],
    wishes: ['write to somebody'],
  },
}

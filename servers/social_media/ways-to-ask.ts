import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  find_profile: {
    clauses: [
      '(pull|bring) up the profile of {name}',
      '(check|find out) if {name} is on here',
      'show me the profile of {name}',
      'look through the profiles for {name}',
      'tell me whether {name} has an account here',
    ],
    goals: ['see if somebody is on here', 'find somebody on here', 'look somebody up'],
  },
  search_posts: {
    clauses: [
      'look through the posts for "{words}"',
      'find out who writes about "{words}"',
      '(pull|bring) up a post about "{words}"',
      'find a post that has "{words}" in it',
      'show me what people are saying about "{words}"',
      'tell me who posted something on "{words}"',
      'check for anything posted on "{words}"',
      'hunt for "{words}" in the posts',
    ],
    goals: ['see what people say about something', 'find a post', 'look for something in the posts'],
  },
  open_feed: {
    clauses: [
      '(go|look) through my {feed} feed',
      '(tell me|see) what is new in my {feed} feed',
      '(pull|bring) up the {feed} feed',
      'let me see my {feed} feed',
      'show me the top of my {feed} feed',
      'go to my {feed} feed',
      'check my {feed} feed for anything new',
      'get me the newest posts from my {feed} feed',
    ],
    goals: ['catch up on what was posted', 'look at what is new', 'go through my feed'],
  },
  list_trends: {
    clauses: [
      '(find out|tell me) what everybody is talking about',
      'go through what is trending',
      '(pull|bring) up the trends',
      'let me see which hashtags are big right now',
      'give me the trending hashtags',
      'see what people post about most',
      'get me the top hashtags',
      'tell me what is popular on here',
    ],
    goals: ['know what people are talking about', 'look at the trends', 'see which hashtags are popular'],
  },
  publish_post: {
    clauses: [
      'share "{text}" with the hashtag {hashtag}',
      'tell everybody "{text}" in a post with the hashtag {hashtag}',
      'make "{text}" a post and add the hashtag {hashtag}',
      'create a post saying "{text}" with the hashtag {hashtag}',
      'put up "{text}" with the hashtag {hashtag}',
    ],
    goals: ['tell people something', 'put up a post', 'share something with everybody'],
  },
  edit_post: {
    clauses: [
      'replace the text of {post} with "{text}"',
      'reword {post} to "{text}"',
      'rewrite {post}, it should read "{text}"',
      'update {post} to "{text}"',
      'fix {post} so that it reads "{text}"',
      'swap the text of {post} for "{text}"',
    ],
    goals: ['reword one of my posts', 'change what one of my posts says', 'correct a post of mine'],
  },
  reply_to_post: {
    clauses: [
      '(leave|post) "{text}" under {post}',
      'comment "{text}" on {post}',
      'say "{text}" in reply to {post}',
      'put the reply "{text}" under {post}',
      'add "{text}" as my reply to {post}',
    ],
    goals: ['say something about a post', "answer somebody's post", 'leave a comment'],
  },
  like_post: {
    clauses: [
      'put a like on {post}',
      'add my like to {post}',
      'mark {post} as liked',
      'show that I like {post}',
      'give a thumbs up to {post}',
    ],
    goals: ['show that I like something', 'give somebody a like', 'leave a like'],
  },
  share_post: {
    clauses: [
      'add {post} to my {place}',
      'get {post} into my {place}',
      'have {post} shared to my {place}',
      'show {post} in my {place}',
      'use my {place} to share {post}',
    ],
    goals: ['pass a post on', 'show a post to others', 'spread something somebody posted'],
  },
  bookmark_post: {
    clauses: [
      'bookmark {post} for later',
      'put {post} in my bookmarks',
      'bookmark {post} so that I can find it again',
      'save {post} to my bookmarks',
      'get {post} into my bookmarks',
    ],
    goals: ['be able to find a post again later', 'keep a post for later', 'remember a post'],
  },
  follow_profile: {
    clauses: [
      'put {profile} on my following list',
      'sign me up as a follower of {profile}',
      'hit follow on {profile}',
      'make me a follower of {profile}',
      'subscribe me to {profile}',
    ],
    goals: ['see what somebody posts from now on', "become somebody's follower", 'add somebody to the people I follow'],
  },
  answer_follow_request: {
    clauses: [
      'look at the follow request from {profile} and {answer} it',
      'pull up the follow request that {profile} sent me and {answer} it',
      'go to my follow requests and {answer} the one from {profile}',
      'find the follow request from {profile} and {answer} it',
      'look through my follow requests and {answer} the one from {profile}',
    ],
    goals: [
      'deal with somebody who wants to follow me',
      'decide whether somebody can follow me',
      'accept or decline a follow request',
    ],
  },
  restrict_profile: {
    clauses: [
      'set {profile} to {restriction}',
      'mark {profile} as {restriction}',
      'change the status of {profile} to {restriction}',
      'switch my setting for {profile} to {restriction}',
      'make sure {profile} is {restriction} on here',
    ],
    goals: [
      'change how I deal with somebody',
      'mute, block or unblock somebody',
      'change whether somebody is muted or blocked',
    ],
  },
  view_story: {
    clauses: [
      'look at the story of {profile}',
      '(tell me|find out) what {profile} has in their story',
      '(pull|bring) up what {profile} put in their story',
      'let me see the story that {profile} posted',
      'get me the story that {profile} has up',
      'check the latest story from {profile}',
    ],
    goals: ['see what somebody put in a story', 'watch a story', "know what is in somebody's story"],
  },
  send_direct_message: {
    clauses: [
      'tell {profile} "{text}" in a direct message',
      'message {profile} directly with "{text}"',
      'drop {profile} a line, "{text}"',
      'write {profile} a direct message with the words "{text}"',
      'put "{text}" in a direct message for {profile}',
      'have "{text}" sent to {profile} as a direct message',
    ],
    goals: ['tell somebody something in private', 'message somebody', 'get a message to somebody'],
  },
}

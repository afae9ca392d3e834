import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { bookmarkObstacle, LIMITS, liveStories, me, postObstacle, shareObstacle } from '../rules.js'
import { PLACES, type Post, tool } from '../schema.js'

const likePost = tool({
  name: 'like_post',
  description: 'Like a post or reply that you can see.',
  input: z.strictObject({ post: ref('post') }),
  output: z.object({ text: z.string(), post: ref('post'), profile: ref('profile'), likes: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const own = me(db)
    const post = choose(
      db.posts,
      random,
      bound.post,
      (row) => row.profile !== own && !db.likes.has(`${own}>${row.post}`) && postObstacle(db, row) === undefined,
    )
    return post ? { post: post.post } : null
  },
  run({ post }, { rowOf, unless, db, fail }) {
    const row = rowOf('posts', post)
    unless(postObstacle(db, row))
    const profile = me(db)
    const like = `${profile}>${post}`
    if (db.likes.has(like)) fail('already_liked')
    db.likes.insert({ like, profile, post })
    return db.posts.update(post, { likes: row.likes + 1 })
  },
})

const sharePost = tool({
  name: 'share_post',
  description: `Share a post of a public profile once, in your feed or as a story. A story lives 24 hours and at most ${LIMITS.liveStories} of yours at a time.`,
  input: z.strictObject({ post: ref('post'), place: z.enum(PLACES).describe('Where it is shown.') }),
  output: z.object({
    text: z.string(),
    post: ref('post'),
    place: z.string(),
    shares: z.int(),
    live_stories: z.int().optional(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const place = bound.place ?? random.pick(PLACES)
    const post = choose(db.posts, random, bound.post, (row) => shareObstacle(db, now(), row, place) === undefined)
    return post ? { post: post.post, place } : null
  },
  run({ post, place }, { rowOf, unless, db, nextId, now }) {
    const row = rowOf('posts', post)
    const at = now()
    unless(shareObstacle(db, at, row, place))
    const profile = me(db)
    db.shares.insert({ share: `${profile}>${post}`, profile, post })
    const { shares } = db.posts.update(post, { shares: row.shares + 1 })
    if (place === 'feed') return { text: row.text, post, place, shares }
    db.stories.insert({ story: nextId('story'), profile, text: row.text, post, at })
    return { text: row.text, post, place, shares, live_stories: liveStories(db, at, profile) }
  },
})

const bookmarkPost = tool({
  name: 'bookmark_post',
  description: `Keep a post that you can see among your bookmarks, of which there are at most ${LIMITS.bookmarks}. Nobody else learns of it.`,
  input: z.strictObject({ post: ref('post') }),
  output: z.object({ text: z.string(), post: ref('post'), profile: ref('profile'), bookmarks: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    // Nobody keeps what they have written themselves.
    const fits = (row: Post) => row.profile !== me(db) && bookmarkObstacle(db, row) === undefined
    const post = choose(db.posts, random, bound.post, fits)
    return post ? { post: post.post } : null
  },
  run({ post }, { rowOf, unless, db }) {
    const row = rowOf('posts', post)
    unless(bookmarkObstacle(db, row))
    db.bookmarks.insert({ post })
    return { text: row.text, post, profile: row.profile, bookmarks: db.bookmarks.count() }
  },
})

export const reactionTools = [likePost, sharePost, bookmarkPost]

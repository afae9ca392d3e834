import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { writtenText } from '../fields.js'
import { editObstacle, LIMITS, me, postsLeft, replyObstacle, writingObstacle } from '../rules.js'
import { extended, postText, replyText } from '../sampling.js'
import { type Context, type Post, type SocialView, tool } from '../schema.js'
import { NEW_HASHTAGS } from '../words.js'

/** Whether I have posted the text on the given day. */
const isRepeated = (db: SocialView, text: string, day: string): boolean =>
  db.posts.by('profile', me(db)).some((row) => row.reply_to === null && row.text === text && row.at.startsWith(day))

type Written = Pick<Post, 'post' | 'text' | 'hashtag' | 'reply_to'>

function write({ db, now }: Context, { post, text, hashtag, reply_to }: Written): void {
  const author = db.profiles.get(me(db))!
  db.profiles.update(author.profile, { posts: author.posts + 1 })
  db.posts.insert({
    post,
    text,
    lower: `${text} ${author.name} ${hashtag ?? ''}`.toLowerCase(),
    profile: author.profile,
    hashtag,
    reply_to,
    at: now(),
    likes: 0,
    replies: 0,
    shares: 0,
    edited: false,
  })
}

const publishPost = tool({
  name: 'publish_post',
  description: `Publish a post under a hashtag, new or known. At most ${LIMITS.text} characters; at most ${LIMITS.postsPerDay} posts and replies a day; not the same text twice a day.`,
  input: z.strictObject({
    text: writtenText.describe('The post; what is too long is refused.'),
    hashtag: ref('hashtag', 'One lower-case word, without the #.'),
  }),
  output: z.object({ text: z.string(), post: ref('post'), hashtag: ref('hashtag'), left_today: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const known = random.chance(0.85) ? db.hashtags.list().map((row) => row.hashtag) : NEW_HASHTAGS
    const hashtag = bound.hashtag ?? random.pick(known)
    const text = bound.text ?? postText(random, hashtag)
    const day = today()
    const refused = writingObstacle(text, postsLeft(db, day)) !== undefined || isRepeated(db, text, day)
    return refused ? null : { text, hashtag }
  },
  run({ text, hashtag }, context) {
    const { unless, db, fail, nextId, today } = context
    if (!/^[a-z][a-z0-9]{1,24}$/.test(hashtag)) fail('bad_hashtag')
    const day = today()
    const left = postsLeft(db, day)
    unless(writingObstacle(text, left))
    if (isRepeated(db, text, day)) fail('duplicate_post')
    const known = db.hashtags.get(hashtag)
    if (known) db.hashtags.update(hashtag, { posts: known.posts + 1 })
    else db.hashtags.insert({ hashtag, posts: 1 })
    const post = nextId('post')
    write(context, { post, text, hashtag, reply_to: null })
    return { text, post, hashtag, left_today: left - 1 }
  },
})

const editPost = tool({
  name: 'edit_post',
  description: `Replace the text of a post or reply of your own, at most ${LIMITS.editMinutes} minutes after it was written. At most ${LIMITS.text} characters.`,
  input: z.strictObject({ post: ref('post'), text: writtenText.describe('The whole new text.') }),
  output: z.object({ text: z.string(), post: ref('post'), edited: z.boolean(), likes: z.int() }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  sample({ db, random, bound, now }) {
    const post = choose(db.posts, random, bound.post, (row) => editObstacle(db, now(), row) === undefined)
    if (!post) return null
    return { text: extended(random, post), ...bound, post: post.post }
  },
  run({ post, text }, { rowOf, unless, db, fail, now }) {
    const row = rowOf('posts', post)
    unless(editObstacle(db, now(), row))
    if (text.length > LIMITS.text) fail('text_too_long')
    const lower = `${text} ${db.profiles.get(row.profile)!.name} ${row.hashtag ?? ''}`.toLowerCase()
    return db.posts.update(post, { text, lower, edited: true })
  },
})

const replyToPost = tool({
  name: 'reply_to_post',
  description: `Reply to a post or reply that you can see. Some authors let only those reply whom they follow. Replies count towards the ${LIMITS.postsPerDay} posts a day.`,
  input: z.strictObject({ post: ref('post'), text: writtenText.describe('The reply.') }),
  output: z.object({
    text: z.string(),
    post: ref('post', 'The reply.'),
    reply_to: z.string(),
    replies: z.int().describe('Replies that the answered post has now.'),
    left_today: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    if (postsLeft(db, today()) <= 0) return null
    const fits = (row: Post) => row.profile !== me(db) && replyObstacle(db, row) === undefined
    const post = choose(db.posts, random, bound.post, fits)
    return post ? { text: replyText(random), ...bound, post: post.post } : null
  },
  run({ post, text }, context) {
    const { rowOf, unless, db, nextId, today } = context
    const answered = rowOf('posts', post)
    const left = postsLeft(db, today())
    unless(replyObstacle(db, answered) ?? writingObstacle(text, left))
    const reply = nextId('reply')
    write(context, { post: reply, text, hashtag: null, reply_to: post })
    const { replies } = db.posts.update(post, { replies: answered.replies + 1 })
    return { text, post: reply, reply_to: post, replies, left_today: left - 1 }
  },
})

export const postTools = [publishPost, editPost, replyToPost]

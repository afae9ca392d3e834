import { z } from 'zod'
import { ref } from '../kernel/fields.js'
import { excerpt } from '../kernel/text.js'
import type { Post } from './schema.js'

/** Longest text of a post in a list, in characters. */
const EXCERPT = 60

/** A post as lists show it. */
export const listedPost = z.object({ text: z.string(), post: ref('post'), profile: ref('profile'), likes: z.int() })

export function listed({ text, post, profile, likes }: Post): z.input<typeof listedPost> {
  return { text: excerpt(text, EXCERPT), post, profile, likes }
}

/**
 * Text of a post that a user writes. The environment checks the network's own limit when the user writes the post.
 */
export const writtenText = z.string().trim().min(2).max(280)

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

/** The text of a post that somebody writes. The network's own limit is checked when it is written. */
export const writtenText = z.string().trim().min(2).max(280)

import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import type { Post, Profile, SocialContext } from '../schema.js'

/** Most posts that a list shows. */
export const SHOWN = 4
/** Longest text of a post in a list, in characters. */
const EXCERPT = 60

export const profileOf = ({ db, fail }: SocialContext, profile: string): Profile =>
  db.profiles.get(profile) ?? fail('unknown_profile', `There is no profile ${profile}.`)

export const postOf = ({ db, fail }: SocialContext, post: string): Post =>
  db.posts.get(post) ?? fail('unknown_post', `There is no post ${post}.`)

/** A post as lists show it. */
export const listedPost = z.object({ text: z.string(), post: ref('post'), profile: ref('profile'), likes: z.int() })

export function listed({ text, post, profile, likes }: Post): z.input<typeof listedPost> {
  return { text: text.length > EXCERPT ? `${text.slice(0, EXCERPT - 3)}...` : text, post, profile, likes }
}

/** The text of a post that somebody writes. The network's own limit is checked when it is written. */
export const writtenText = z.string().trim().min(2).max(280)

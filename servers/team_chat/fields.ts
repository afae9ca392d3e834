import { z } from 'zod'
import { ref } from '../kernel/fields.js'
/** Longest text of a message in a list, in characters. */
export const EXCERPT = 60

/** Text of a message that a user writes. */
export const writtenText = z.string().trim().min(2).max(300)

/** The message a call was about, for its output. */
export const about = { text: z.string(), message: ref('message'), channel: ref('channel') }

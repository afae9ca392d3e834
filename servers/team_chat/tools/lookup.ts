import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import type { Channel, ChatContext, Message, Person } from '../schema.js'

/** Most entries that a list shows. */
export const SHOWN = 4
/** Longest text of a message in a list, in characters. */
const EXCERPT = 60

export const channelNamed = ({ db, fail }: ChatContext, channel: string): Channel =>
  db.channels.get(channel) ?? fail('unknown_channel', `There is no channel ${channel}.`)

export const personNamed = ({ db, fail }: ChatContext, person: string): Person =>
  db.people.get(person) ?? fail('unknown_person', `There is no teammate ${person}.`)

export const messageNamed = ({ db, fail }: ChatContext, message: string): Message =>
  db.messages.get(message) ?? fail('unknown_message', `There is no message ${message}.`)

export const excerpt = (text: string): string => (text.length > EXCERPT ? `${text.slice(0, EXCERPT - 3)}...` : text)

/** The text of a message that somebody writes. */
export const writtenText = z.string().trim().min(2).max(300)

/** The message a call was about, for its output. */
export const about = { text: z.string(), message: ref('message'), channel: ref('channel') }

import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { bare } from '../changes.js'
import { searchContacts, searchEmails } from '../lookup.js'
import { fewHits } from '../sampling.js'
import { type Contact, contactKey, emailKey, fileKey, folder, labelKey, threadKey, tool } from '../schema.js'

const words = z.string().min(2).max(60)

const status = z.enum(['active', 'blocked', 'inactive', 'away'])

function statusOf({ active, blocked, away_until }: Contact, today: string): z.output<typeof status> {
  if (!active) return 'inactive'
  if (blocked) return 'blocked'
  return away_until !== null && away_until >= today ? 'away' : 'active'
}

const findContact = tool({
  name: 'find_contact',
  description: 'Look a person or service up in the address book by name.',
  input: z.strictObject({ name: words.describe('First name, last name or both') }),
  output: z.object({
    contacts: z.array(
      z.object({
        name: z.string(),
        contact: contactKey(),
        relation: z.string(),
        status,
      }),
    ),
  }),
  pages: { contacts: 'short' },
  annotations: { readOnly: true },
  sample({ db, random }) {
    const contact = choose(db.contacts, random, undefined, ({ active }) => active)
    if (!contact) return null
    const [first = '', last = ''] = contact.name.split(' ')
    const name = fewHits(random.sample([first, last, contact.name, contact.name], 2), (text) => {
      return searchContacts(db, text).length
    })
    return { name: name ?? contact.name }
  },
  run({ name }, { db, today }) {
    const date = today()
    return {
      contacts: searchContacts(db, name).map((row) => ({ ...row, status: statusOf(row, date) })),
    }
  },
})

const searchMail = tool({
  name: 'search_emails',
  description: 'Search all emails by words of the subject or the name of the contact, the newest first.',
  input: z.strictObject({
    words: words.describe('Words of the subject or a name'),
    folder: folder.describe('Only emails in this folder.').optional(),
  }),
  output: z.object({
    found: z.int(),
    emails: z.array(z.object({ subject: z.string(), email: emailKey(), contact: contactKey() })),
  }),
  pages: { emails: 'short' },
  annotations: { readOnly: true },
  sample({ db, random }) {
    const email = choose(db.emails, random, undefined, () => true)
    if (!email) return null
    // Who looks for what was thrown away says so.
    const place = email.folder === 'trash' || email.folder === 'spam' || random.chance(0.3) ? email.folder : undefined
    const subject = bare(email.subject)
    const { name } = db.contacts.get(email.contact)!
    const texts = [...random.sample([...subject.split(' '), subject, subject, name], 3), subject]
      .map((text) => text.toLowerCase())
      .filter((text) => text.length > 2)
    const found = fewHits(texts, (text) => searchEmails(db, text, place).length)
    if (found === undefined) return null
    return place ? { words: found, folder: place } : { words: found }
  },
  run({ words, folder }, { db }) {
    const emails = searchEmails(db, words, folder)
    return { found: emails.length, emails }
  },
})

const readEmail = tool({
  name: 'read_email',
  description: 'Show the text, thread, folder, labels and attached files of an email.',
  input: z.strictObject({ email: emailKey() }),
  output: z.object({
    subject: z.string(),
    email: emailKey(),
    thread: threadKey(),
    contact: contactKey(),
    direction: z.enum(['received', 'sent']),
    date: z.string(),
    body: z.string(),
    folder,
    labels: z.array(labelKey()),
    files: z.array(fileKey()),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const email = choose(db.emails, random, bound.email, () => true)
    return email ? { email: email.email } : null
  },
  run({ email }, context) {
    const row = context.rowOf('emails', email)
    return { ...row, date: row.at.slice(0, 10) }
  },
})

const openThread = tool({
  name: 'open_thread',
  description: 'List the emails of a thread, the newest first.',
  input: z.strictObject({ thread: threadKey() }),
  output: z.object({
    subject: z.string(),
    thread: threadKey(),
    count: z.int(),
    emails: z.array(z.object({ name: z.string(), email: emailKey(), direction: z.enum(['received', 'sent']) })),
  }),
  pages: { emails: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const thread = choose(db.threads, random, bound.thread, () => true)
    return thread ? { thread: thread.thread } : null
  },
  run({ thread }, context) {
    const row = context.rowOf('threads', thread)
    const emails = row.emails.toReversed().map((key) => {
      const email = context.rowOf('emails', key)
      return { name: context.rowOf('contacts', email.contact).name, email: key, direction: email.direction }
    })
    return { subject: row.subject, thread, count: row.emails.length, emails }
  },
})

export const readingTools = [findContact, searchMail, readEmail, openThread]

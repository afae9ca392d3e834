import { descending } from '../kernel/lists.js'
import type { Contact, Context, Draft, Email, EmailView } from './schema.js'

export function openDraftOf(context: Context, key: string): Draft {
  const draft = context.rowOf('drafts', key)
  return draft.status === 'open' ? draft : context.fail('draft_closed')
}

/** Emails in whose subject or contact's name every word occurs, newest first. */
export function searchEmails(db: EmailView, words: string, place?: string): Email[] {
  const wanted = wordsOf(words)
  return db.emails
    .list((email) => {
      if (place !== undefined && email.folder !== place) return false
      const text = `${email.subject} ${db.contacts.get(email.contact)!.name} ${email.contact}`.toLowerCase()
      return wanted.every((word) => text.includes(word))
    })
    .reverse()
    .sort(descending('at'))
}

/** Contacts in whose name or key every word occurs, in the order of the address book. */
export function searchContacts(db: EmailView, words: string): Contact[] {
  const wanted = wordsOf(words)
  return db.contacts.list(({ name, contact }) => {
    const text = `${name} ${contact}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean)

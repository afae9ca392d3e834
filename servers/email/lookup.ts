import type { Objection } from './rules.js'
import type { Contact, Draft, Email, EmailContext, EmailView } from './schema.js'

/** Ends the call with a failure if there is an objection. */
export function unless(context: EmailContext, objection: Objection): void {
  if (objection) context.fail(objection)
}

export const contactOf = ({ db, fail }: EmailContext, key: string): Contact =>
  db.contacts.get(key) ?? fail('unknown_contact')

export const emailOf = ({ db, fail }: EmailContext, key: string): Email => db.emails.get(key) ?? fail('unknown_email')

export const draftOf = ({ db, fail }: EmailContext, key: string): Draft => db.drafts.get(key) ?? fail('unknown_draft')

export function openDraftOf(context: EmailContext, key: string): Draft {
  const draft = draftOf(context, key)
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
    .sort((a, b) => (a.at > b.at ? -1 : a.at < b.at ? 1 : 0))
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

/** Of several texts to search for, the first with one hit, or else the first with few, or else the last. For samplers. */
export function fewHits(texts: readonly string[], hits: (text: string) => number): string | undefined {
  const counts = texts.map(hits)
  const single = counts.indexOf(1)
  const few = single >= 0 ? single : counts.findIndex((count) => count > 0 && count <= 3)
  return texts.at(few)
}

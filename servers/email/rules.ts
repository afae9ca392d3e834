import { addDays, minutesBetween } from '../kernel/dates.js'
import { type Contact, type Draft, type Email, type EmailView, type Failure, type Folder, LIMITS } from './schema.js'

/** What stands against an action, as its failure code; `undefined` when nothing does. Shared by handlers and samplers. */
export type Objection = Failure | undefined

/** Whether mail to this contact can be sent. */
export function whyNotWriteTo(contact: Contact): Objection {
  if (contact.relation === 'service') return 'no_reply_address'
  if (!contact.active) return 'address_inactive'
  return contact.blocked ? 'contact_blocked' : undefined
}

function whyNotUse(email: Email): Objection {
  if (email.recalled) return 'email_recalled'
  if (email.folder === 'trash') return 'email_in_trash'
  return email.folder === 'spam' ? 'email_in_spam' : undefined
}

export const whyNotReply = (db: EmailView, email: Email): Objection =>
  whyNotUse(email) ?? whyNotWriteTo(db.contacts.get(email.contact)!)

export function whyNotForward(db: EmailView, email: Email, to: Contact): Objection {
  const objection = whyNotUse(email) ?? whyNotWriteTo(to)
  if (objection) return objection
  if (email.contact === to.contact) return 'same_contact'
  if (email.labels.includes('confidential') && to.relation !== 'colleague') return 'email_confidential'
  return whyNotStore(db, email.size_mb)
}

export function whyNotStore(db: EmailView, sizeMb: number): Objection {
  const { used_mb, quota_mb } = db.mailbox.get('me')!
  return used_mb + sizeMb > quota_mb ? 'quota_exceeded' : undefined
}

export const whyNotAddDraft = (db: EmailView): Objection =>
  db.drafts.count(({ status }) => status === 'open') >= LIMITS.openDrafts ? 'too_many_drafts' : undefined

export function whyNotAttach(db: EmailView, draft: Draft, file: { file: string; size_mb: number }): Objection {
  if (draft.status !== 'open') return 'draft_closed'
  if (draft.files.includes(file.file)) return 'already_attached'
  if (draft.size_mb + file.size_mb > LIMITS.attachmentMb) return 'attachment_too_large'
  return whyNotStore(db, file.size_mb)
}

export const whyNotSend = (db: EmailView, draft: Draft): Objection =>
  draft.status === 'open' ? whyNotWriteTo(db.contacts.get(draft.contact)!) : 'draft_closed'

export function whyNotRecall(db: EmailView, email: Email, now: string): Objection {
  if (email.direction === 'received') return 'not_sent_by_you'
  if (email.recalled) return 'email_recalled'
  if (email.opened) return 'already_opened'
  if (minutesBetween(email.at, now) > LIMITS.recallMinutes) return 'recall_window_closed'
  return whyNotAddDraft(db)
}

export function whyNotAddLabel(email: Email, label: string): Objection {
  if (email.folder === 'trash') return 'email_in_trash'
  if (email.labels.includes(label)) return 'already_labelled'
  return email.labels.length >= LIMITS.labelsPerEmail ? 'too_many_labels' : undefined
}

export function whyNotRemoveLabel(db: EmailView, email: Email, label: string): Objection {
  if (email.folder === 'trash') return 'email_in_trash'
  if (!email.labels.includes(label)) return 'not_labelled'
  return db.labels.get(label)!.locked ? 'label_locked' : undefined
}

export function whyNotMove(db: EmailView, email: Email, to: Folder, today: string): Objection {
  if (email.folder === to) return 'already_in_folder'
  if (email.direction === 'sent' && to !== 'archive' && to !== 'trash') return 'wrong_folder'
  if (email.trashed_on !== null && addDays(email.trashed_on, LIMITS.trashDays) < today) return 'retention_expired'
  const contact = db.contacts.get(email.contact)!
  if (to === 'trash' && email.labels.some((label) => db.labels.get(label)!.keeps)) return 'kept_by_label'
  if (to === 'inbox' && contact.blocked) return 'contact_blocked'
  return to === 'spam' && contact.relation === 'colleague' ? 'colleague_protected' : undefined
}

export function whyNotDate(date: string, today: string): Objection {
  if (date <= today) return 'date_not_ahead'
  return date > addDays(today, LIMITS.daysAhead) ? 'date_too_far' : undefined
}

export function whyNotSnooze(db: EmailView, email: Email): Objection {
  if (email.folder !== 'inbox') return 'not_in_inbox'
  const snoozed = db.emails.count(({ folder }) => folder === 'snoozed')
  return snoozed >= LIMITS.snoozedEmails ? 'too_many_snoozed' : undefined
}

export function whyNotRule(contact: Contact, rule: 'block' | 'allow'): Objection {
  if (contact.blocked === (rule === 'block')) return 'rule_already_set'
  return rule === 'block' && contact.relation === 'colleague' ? 'colleague_protected' : undefined
}

export function whyNotDeputise(contact: Contact, until: string): Objection {
  if (contact.relation !== 'colleague') return 'not_a_colleague'
  if (!contact.active) return 'address_inactive'
  // Somebody who comes back before the absence ends can still be asked for the rest of it.
  return contact.away_until !== null && contact.away_until >= until ? 'deputy_away' : undefined
}

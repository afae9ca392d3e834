import { addDays, minutesBetween } from '../kernel/dates.js'
import { type Contact, type Draft, type Email, type EmailView, type Folder, LIMITS, type Obstacle } from './schema.js'

/** Whether mail to this contact can be sent. */
export function writeToObstacle(contact: Contact): Obstacle | undefined {
  if (contact.relation === 'service') return { code: 'no_reply_address' }
  if (!contact.active) return { code: 'address_inactive' }
  return contact.blocked ? { code: 'contact_blocked' } : undefined
}

function useObstacle(email: Email): Obstacle | undefined {
  if (email.recalled) return { code: 'email_recalled' }
  if (email.folder === 'trash') return { code: 'email_in_trash' }
  return email.folder === 'spam' ? { code: 'email_in_spam' } : undefined
}

export const replyObstacle = (db: EmailView, email: Email): Obstacle | undefined =>
  useObstacle(email) ?? writeToObstacle(db.contacts.get(email.contact)!)

export function forwardObstacle(db: EmailView, email: Email, to: Contact): Obstacle | undefined {
  const obstacle = useObstacle(email) ?? writeToObstacle(to)
  if (obstacle) return obstacle
  if (email.contact === to.contact) return { code: 'same_contact' }
  if (email.labels.includes('confidential') && to.relation !== 'colleague') return { code: 'email_confidential' }
  return storeObstacle(db, email.size_mb)
}

export function storeObstacle(db: EmailView, sizeMb: number): Obstacle | undefined {
  const { used_mb, quota_mb } = db.mailbox.get('me')!
  return used_mb + sizeMb > quota_mb ? { code: 'quota_exceeded' } : undefined
}

export const addDraftObstacle = (db: EmailView): Obstacle | undefined =>
  db.drafts.count(({ status }) => status === 'open') >= LIMITS.openDrafts ? { code: 'too_many_drafts' } : undefined

export function attachObstacle(
  db: EmailView,
  draft: Draft,
  file: { file: string; size_mb: number },
): Obstacle | undefined {
  if (draft.status !== 'open') return { code: 'draft_closed' }
  if (draft.files.includes(file.file)) return { code: 'already_attached' }
  if (draft.size_mb + file.size_mb > LIMITS.attachmentMb) return { code: 'attachment_too_large' }
  return storeObstacle(db, file.size_mb)
}

export const sendObstacle = (db: EmailView, draft: Draft): Obstacle | undefined =>
  draft.status === 'open' ? writeToObstacle(db.contacts.get(draft.contact)!) : { code: 'draft_closed' }

export function recallObstacle(db: EmailView, email: Email, now: string): Obstacle | undefined {
  if (email.direction === 'received') return { code: 'not_sent_by_you' }
  if (email.recalled) return { code: 'email_recalled' }
  if (email.opened) return { code: 'already_opened' }
  if (minutesBetween(email.at, now) > LIMITS.recallMinutes) return { code: 'recall_window_closed' }
  return addDraftObstacle(db)
}

export function addLabelObstacle(email: Email, label: string): Obstacle | undefined {
  if (email.folder === 'trash') return { code: 'email_in_trash' }
  if (email.labels.includes(label)) return { code: 'already_labelled' }
  return email.labels.length >= LIMITS.labelsPerEmail ? { code: 'too_many_labels' } : undefined
}

export function removeLabelObstacle(db: EmailView, email: Email, label: string): Obstacle | undefined {
  if (email.folder === 'trash') return { code: 'email_in_trash' }
  if (!email.labels.includes(label)) return { code: 'not_labelled' }
  return db.labels.get(label)!.locked ? { code: 'label_locked' } : undefined
}

export function moveObstacle(db: EmailView, email: Email, to: Folder, today: string): Obstacle | undefined {
  if (email.folder === to) return { code: 'already_in_folder' }
  if (email.direction === 'sent' && to !== 'archive' && to !== 'trash') return { code: 'wrong_folder' }
  if (email.trashed_on !== null && addDays(email.trashed_on, LIMITS.trashDays) < today)
    return { code: 'retention_expired' }
  const contact = db.contacts.get(email.contact)!
  if (to === 'trash' && email.labels.some((label) => db.labels.get(label)!.keeps)) return { code: 'kept_by_label' }
  if (to === 'inbox' && contact.blocked) return { code: 'contact_blocked' }
  return to === 'spam' && contact.relation === 'colleague' ? { code: 'colleague_protected' } : undefined
}

export function dateObstacle(date: string, today: string): Obstacle | undefined {
  if (date <= today) return { code: 'date_not_ahead' }
  return date > addDays(today, LIMITS.daysAhead) ? { code: 'date_too_far' } : undefined
}

export function snoozeObstacle(db: EmailView, email: Email): Obstacle | undefined {
  if (email.folder !== 'inbox') return { code: 'not_in_inbox' }
  const snoozed = db.emails.count(({ folder }) => folder === 'snoozed')
  return snoozed >= LIMITS.snoozedEmails ? { code: 'too_many_snoozed' } : undefined
}

export function ruleObstacle(contact: Contact, rule: 'block' | 'allow'): Obstacle | undefined {
  if (contact.blocked === (rule === 'block')) return { code: 'rule_already_set' }
  return rule === 'block' && contact.relation === 'colleague' ? { code: 'colleague_protected' } : undefined
}

export function deputiseObstacle(contact: Contact, until: string): Obstacle | undefined {
  if (contact.relation !== 'colleague') return { code: 'not_a_colleague' }
  if (!contact.active) return { code: 'address_inactive' }
  // Somebody who comes back before the absence ends can still be asked for the rest of it.
  return contact.away_until !== null && contact.away_until >= until ? { code: 'deputy_away' } : undefined
}

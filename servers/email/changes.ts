import type { Context, Email, Folder } from './schema.js'

const PREFIX = /^((re|fwd): )+/i

/** A subject without its "Re: " and "Fwd: ". */
export const bare = (subject: string): string => subject.replace(PREFIX, '')

export const withPrefix = (prefix: 'Re' | 'Fwd', subject: string): string => `${prefix}: ${bare(subject)}`

export interface Outgoing extends Pick<Email, 'contact' | 'subject' | 'body' | 'files' | 'size_mb'> {
  /** The thread that it continues; a new one without it. */
  readonly thread: string | null
}

export interface Receipt extends Record<string, unknown> {
  subject: string
  email: string
  thread: string
  contact: string
  delivery: 'delivered' | 'auto_reply'
}

/** Sends an email: from here on its words never change. The caller has checked that it may be sent and stored. */
export function send(context: Context, { thread: continued, ...outgoing }: Outgoing): Receipt {
  const { rowOf, db } = context
  const { subject, contact } = outgoing
  const email = context.nextId('mail')
  const thread = continued ?? context.nextId('thread')
  const known = db.threads.get(thread)
  if (known) db.threads.update(thread, { emails: [...known.emails, email] })
  else db.threads.insert({ thread, subject, emails: [email] })
  db.emails.insert({
    ...outgoing,
    email,
    thread,
    direction: 'sent',
    at: context.now(),
    folder: 'sent',
    labels: [],
    snoozed_until: null,
    trashed_on: null,
    opened: false,
    recalled: false,
  })
  const away = rowOf('contacts', contact).away_until
  const delivery = away !== null && away >= context.today() ? 'auto_reply' : 'delivered'
  return { subject, email, thread, contact, delivery }
}

/** Takes up `sizeMb` of space in the mailbox or, if negative, gives the space back. Returns the space that is left, in MB. */
export function occupy({ db }: Context, sizeMb: number): number {
  const { used_mb, quota_mb } = db.mailbox.get('me')!
  db.mailbox.update('me', { used_mb: used_mb + sizeMb })
  return quota_mb - used_mb - sizeMb
}

/** Adds `by` to the counts of the given labels. */
export function countLabels({ db }: Context, labels: readonly string[], by: 1 | -1): void {
  for (const label of labels) db.labels.update(label, { emails: db.labels.get(label)!.emails + by })
}

/** Puts an email into another folder and keeps the label counts, which leave the trash out, in step. */
export function put(context: Context, email: Email, to: Folder, until: string | null = null): void {
  if (email.folder === 'trash') countLabels(context, email.labels, 1)
  if (to === 'trash') countLabels(context, email.labels, -1)
  const trashed_on = to === 'trash' ? context.today() : null
  context.db.emails.update(email.email, { folder: to, snoozed_until: until, trashed_on })
}

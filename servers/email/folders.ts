import type { Email, EmailContext, Folder } from './schema.js'

/** Adds `by` to the counts of the given labels. */
export function countLabels({ db }: EmailContext, labels: readonly string[], by: 1 | -1): void {
  for (const label of labels) db.labels.update(label, { emails: db.labels.get(label)!.emails + by })
}

/** Puts an email into another folder and keeps the label counts, which leave the trash out, in step. */
export function put(context: EmailContext, email: Email, to: Folder, until: string | null = null): void {
  if (email.folder === 'trash') countLabels(context, email.labels, 1)
  if (to === 'trash') countLabels(context, email.labels, -1)
  const trashed_on = to === 'trash' ? context.today() : null
  context.db.emails.update(email.email, { folder: to, snoozed_until: until, trashed_on })
}

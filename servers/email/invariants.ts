import type { Invariant } from '../kernel/define-environment.js'
import { type Email, type EmailTables, type EmailView, LIMITS } from './schema.js'

const holds = (
  name: string,
  check: (now: EmailView, seed: EmailView) => string | undefined,
): Invariant<EmailTables> => ({
  name,
  check,
})

/** The first of `rows` that is wrong, said in words. */
function firstWrong<R>(rows: readonly R[], wrong: (row: R) => string | false | undefined): string | undefined {
  for (const row of rows) {
    const problem = wrong(row)
    if (problem) return problem
  }
  return undefined
}

const wordsOf = ({ email, thread, subject, contact, direction, body, at, files, size_mb }: Email): string =>
  JSON.stringify({ email, thread, subject, contact, direction, body, at, files, size_mb })

const ownFolders = ['sent', 'archive', 'trash']

export const invariants: readonly Invariant<EmailTables>[] = [
  holds('emails are kept and their words never change', (now, seed) =>
    firstWrong(seed.emails.list(), (before) => {
      const after = now.emails.get(before.email)
      if (!after) return `${before.email} is gone`
      return wordsOf(after) !== wordsOf(before) && `${before.email} was rewritten`
    }),
  ),
  holds('a sent draft and its email say the same', (now) =>
    firstWrong(now.drafts.list(), (draft) => {
      if ((draft.status === 'sent') !== (draft.email !== null)) return `${draft.draft} is ${draft.status}`
      if (draft.email === null) return undefined
      const email = now.emails.get(draft.email)
      const same = (['subject', 'contact', 'body', 'size_mb'] as const).every(
        (field) => email?.[field] === draft[field],
      )
      return !same && `${draft.draft} was not sent as ${draft.email}`
    }),
  ),
  holds('every email lies in one folder that fits it', (now) =>
    firstWrong(now.emails.list(), (row) => {
      if ((row.folder === 'snoozed') !== (row.snoozed_until !== null)) return `${row.email} has a wrong snooze date`
      if ((row.folder === 'trash') !== (row.trashed_on !== null)) return `${row.email} has a wrong trash date`
      const fits = row.direction === 'sent' ? ownFolders.includes(row.folder) : row.folder !== 'sent'
      return !fits && `${row.email} was ${row.direction} and lies in ${row.folder}`
    }),
  ),
  holds('threads list their emails, each once, in order of time', (now) => {
    const listed = now.threads.list().flatMap(({ emails }) => emails)
    if (listed.length !== now.emails.count()) return `${listed.length} are listed, ${now.emails.count()} exist`
    return firstWrong(now.threads.list(), ({ thread, emails }) => {
      const rows = emails.map((key) => now.emails.get(key))
      if (rows.some((row) => row?.thread !== thread)) return `${thread} lists an email of another thread`
      return rows.some((row, i) => i > 0 && row!.at < rows[i - 1]!.at) && `${thread} is out of order`
    })
  }),
  holds('labels count the emails outside the trash that carry them', (now) =>
    firstWrong(now.labels.list(), ({ label, emails }) => {
      const carriers = now.emails.count((row) => row.folder !== 'trash' && row.labels.includes(label))
      return carriers !== emails && `${label} counts ${emails} of ${carriers}`
    }),
  ),
  holds('labels exist, are few, and keep emails out of the trash', (now) =>
    firstWrong(now.emails.list(), ({ email, labels, folder }) => {
      if (new Set(labels).size !== labels.length || labels.length > LIMITS.labelsPerEmail) return `${email}: ${labels}`
      if (labels.some((label) => !now.labels.has(label))) return `${email} has an unknown label`
      return folder === 'trash' && labels.some((label) => now.labels.get(label)!.keeps) && `${email} is in the trash`
    }),
  ),
  holds('locked labels stay', (now, seed) =>
    firstWrong(seed.emails.list(), ({ email, labels }) => {
      const lost = labels.find(
        (label) => seed.labels.get(label)!.locked && !now.emails.get(email)!.labels.includes(label),
      )
      return lost !== undefined && `${email} lost ${lost}`
    }),
  ),
  holds('the used room is that of all attachments and within the quota', (now) => {
    const mail = now.emails.list((row) => !row.recalled).reduce((sum, row) => sum + row.size_mb, 0)
    // The files of a sent draft are those of its email.
    const drafts = now.drafts.list(({ status }) => status === 'open').reduce((sum, row) => sum + row.size_mb, 0)
    const { used_mb, quota_mb } = now.mailbox.get('me')!
    if (used_mb !== mail + drafts) return `${used_mb} MB are booked, ${mail + drafts} MB are there`
    return used_mb > quota_mb ? `${used_mb} of ${quota_mb} MB` : undefined
  }),
  holds('attachments are known files that fit into one email', (now) =>
    firstWrong([...now.emails.list(), ...now.drafts.list()], ({ subject, files, size_mb }) => {
      const sum = files.reduce((total, file) => total + (now.files.get(file)?.size_mb ?? Number.NaN), 0)
      return (sum !== size_mb || sum > LIMITS.attachmentMb) && `"${subject}" carries ${sum} MB, says ${size_mb}`
    }),
  ),
  holds('blocked contacts are no colleagues and reach neither the inbox nor the snoozed emails', (now) => {
    const blocked = new Set(now.contacts.list((row) => row.blocked).map(({ contact }) => contact))
    const colleague = now.contacts.find((row) => row.blocked && row.relation === 'colleague')
    if (colleague) return `${colleague.contact} is blocked`
    return firstWrong(now.emails.list(), ({ email, contact, folder }) => {
      return blocked.has(contact) && (folder === 'inbox' || folder === 'snoozed') && `${email} is in the ${folder}`
    })
  }),
  holds('open drafts and snoozed emails stay within their limits', (now) => {
    const open = now.drafts.count(({ status }) => status === 'open')
    const snoozed = now.emails.count(({ folder }) => folder === 'snoozed')
    const within = open <= LIMITS.openDrafts && snoozed <= LIMITS.snoozedEmails
    return within ? undefined : `${open} drafts, ${snoozed} snoozed`
  }),
  holds('only unopened sent emails are recalled', (now) =>
    firstWrong(now.emails.list(), ({ email, recalled, opened, direction }) => {
      return recalled && (opened || direction !== 'sent') && `${email} was ${opened ? 'opened' : direction}`
    }),
  ),
]

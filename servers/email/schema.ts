import { z } from 'zod'
import { type DbView, type ObstacleOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'
import { ref } from '../kernel/fields.js'

/** Limits of the mailbox, as its provider would publish them. */
export const LIMITS = {
  openDrafts: 12,
  labelsPerEmail: 3,
  snoozedEmails: 10,
  /** Attachments of one email together, in megabytes. */
  attachmentMb: 25,
  /** A sent email can be taken back for this long. */
  recallMinutes: 30,
  /** Days after which an email in the trash can no longer be restored. */
  trashDays: 30,
  /** How far ahead an email may be snoozed or an auto-reply may run, in days. */
  daysAhead: 90,
} as const

export const folder = z.enum(['inbox', 'archive', 'sent', 'snoozed', 'spam', 'trash'])
export type Folder = z.output<typeof folder>

const contactRow = z.object({
  contact: z.string(),
  name: z.string(),
  relation: z.enum(['colleague', 'client', 'friend', 'family', 'service']),
  /** False once the address no longer accepts mail. */
  active: z.boolean(),
  blocked: z.boolean(),
  /** Last day of the contact's own absence. */
  away_until: z.iso.date().nullable(),
})

const emailRow = z.object({
  email: z.string(),
  thread: z.string(),
  subject: z.string(),
  /** The other party: who wrote a received email, who got a sent one. */
  contact: z.string(),
  direction: z.enum(['received', 'sent']),
  body: z.string(),
  at: z.iso.datetime(),
  files: z.array(z.string()),
  size_mb: z.int().nonnegative(),
  folder,
  labels: z.array(z.string()),
  snoozed_until: z.iso.date().nullable(),
  trashed_on: z.iso.date().nullable(),
  /** A sent email that its recipient has read. */
  opened: z.boolean(),
  recalled: z.boolean(),
})

const draftRow = z.object({
  draft: z.string(),
  subject: z.string(),
  contact: z.string(),
  body: z.string(),
  files: z.array(z.string()),
  size_mb: z.int().nonnegative(),
  status: z.enum(['open', 'sent', 'discarded']),
  /** The thread it will continue, when it came back from a recall. */
  thread: z.string().nullable(),
  /** What it was sent as. */
  email: z.string().nullable(),
})

export const tables = {
  contacts: { key: 'contact', missing: 'unknown_contact', row: contactRow },
  emails: { key: 'email', missing: 'unknown_email', row: emailRow },
  threads: {
    key: 'thread',
    missing: 'unknown_thread',
    /** `emails` in order of time. */
    row: z.object({ thread: z.string(), subject: z.string(), emails: z.array(z.string()).min(1) }),
  },
  drafts: { key: 'draft', missing: 'unknown_draft', row: draftRow },
  labels: {
    key: 'label',
    missing: 'unknown_label',
    row: z.object({
      label: z.string(),
      /** Emails outside the trash that carry it. */
      emails: z.int().nonnegative(),
      /** Keeps an email out of the trash. */
      keeps: z.boolean(),
      /** Cannot be taken off. */
      locked: z.boolean(),
    }),
  },
  files: { key: 'file', missing: 'unknown_file', row: z.object({ file: z.string(), size_mb: z.int().positive() }) },
  /** One row, `me`. */
  mailbox: {
    key: 'owner',
    row: z.object({
      owner: z.literal('me'),
      quota_mb: z.int().positive(),
      used_mb: z.int().nonnegative(),
      auto_reply: z
        .object({ contact: z.string(), until: z.iso.date(), note: z.string(), stated: z.array(z.string()) })
        .nullable(),
    }),
  },
} as const

export const failures = {
  unknown_contact: 'There is no such contact in the address book.',
  unknown_email: 'There is no such email.',
  unknown_thread: 'There is no such thread.',
  unknown_draft: 'There is no such draft.',
  unknown_label: 'There is no such label.',
  unknown_file: 'There is no such file.',
  address_inactive: 'This address no longer accepts mail.',
  no_reply_address: 'This is an automatic service that does not read mail.',
  contact_blocked: 'This contact is blocked.',
  colleague_protected: 'Colleagues cannot be blocked and their mail cannot be marked as spam.',
  rule_already_set: 'This rule already holds for this contact.',
  too_many_drafts: `There are already ${LIMITS.openDrafts} open drafts.`,
  draft_closed: 'This draft was already sent or discarded.',
  already_attached: 'This file is already attached.',
  attachment_too_large: `The attachments of one email may have at most ${LIMITS.attachmentMb} MB.`,
  quota_exceeded: 'The mailbox has no room for this attachment.',
  email_in_trash: 'This email is in the trash.',
  email_in_spam: 'This email is in the spam folder.',
  email_recalled: 'This email was recalled.',
  email_confidential: 'A confidential email can be forwarded to colleagues only.',
  same_contact: 'This contact already has the email.',
  not_sent_by_you: 'Only an email that you sent can be recalled.',
  already_opened: 'The recipient has already opened this email.',
  recall_window_closed: `An email can be recalled only within ${LIMITS.recallMinutes} minutes.`,
  already_labelled: 'The email already carries this label.',
  not_labelled: 'The email does not carry this label.',
  too_many_labels: `An email can carry at most ${LIMITS.labelsPerEmail} labels.`,
  label_locked: 'This label cannot be removed.',
  kept_by_label: 'A label keeps this email out of the trash.',
  already_in_folder: 'The email is already in this folder.',
  wrong_folder: 'An email that you sent can only be archived or put in the trash.',
  retention_expired: `After ${LIMITS.trashDays} days in the trash an email cannot be restored.`,
  not_in_inbox: 'Only an email in the inbox can be snoozed.',
  too_many_snoozed: `There are already ${LIMITS.snoozedEmails} snoozed emails.`,
  date_not_ahead: 'The date must lie in the future.',
  date_too_far: `The date may lie at most ${LIMITS.daysAhead} days ahead.`,
  not_a_colleague: 'Only a colleague can stand in for you.',
  deputy_away: 'This colleague is away on that date.',
}

export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type EmailTables = typeof tables
export type EmailView = DbView<EmailTables>
export type Context = ToolContext<EmailTables, FailureCode>
export type Contact = Readonly<z.output<typeof contactRow>>
export type Email = Readonly<z.output<typeof emailRow>>
export type Draft = Readonly<z.output<typeof draftRow>>

export const tool = toolMaker(tables, failures)

export const contactKey = (): z.ZodString => ref('contact', 'Contact, such as ana-lima')
export const emailKey = (): z.ZodString => ref('email', 'Email, such as mail-31')
export const draftKey = (): z.ZodString => ref('draft', 'Draft, such as draft-31')
export const fileKey = (): z.ZodString => ref('file', 'File, such as budget-plan.pdf')
export const labelKey = (): z.ZodString => ref('label', 'Label, such as invoices')
export const threadKey = (): z.ZodString => ref('thread', 'Thread, such as thread-31')

/** A calendar date. */
export const dateField = z.iso.date().describe('YYYY-MM-DD')

export const subjectField = z.string().min(1).max(80)
export const bodyField = z.string().min(1).max(400)

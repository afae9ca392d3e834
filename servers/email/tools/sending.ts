import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { occupy, send, withPrefix } from '../changes.js'
import { forwardObstacle, recallObstacle, replyObstacle, writeToObstacle } from '../rules.js'
import { wouldInterest } from '../sampling.js'
import { bodyField, type Contact, contactKey, draftKey, type Email, emailKey, threadKey, tool } from '../schema.js'
import { subjectOf } from '../subjects.js'
import { note, reply } from '../words.js'

const receipt = () =>
  z.object({
    subject: z.string(),
    email: emailKey().describe('The email that was sent'),
    thread: threadKey(),
    contact: contactKey(),
    delivery: z.enum(['delivered', 'auto_reply']),
  })

const replyToEmail = tool({
  name: 'reply_to_email',
  description: 'Answer an email: sends a reply to its contact at once, in the same thread.',
  input: z.strictObject({ email: emailKey(), body: bodyField.describe('The text of the reply.') }),
  output: receipt(),
  annotations: { readOnly: false },
  establishes: ['email_sent'],
  sample({ db, random, bound }) {
    const fits = (row: Email) => row.direction === 'received' && !replyObstacle(db, row)
    const email = choose(db.emails, random, bound.email, fits)
    return email ? { body: reply(random, subjectOf(email.subject)), ...bound, email: email.email } : null
  },
  run({ email, body }, context) {
    const row = context.rowOf('emails', email)
    context.unless(replyObstacle(context.db, row))
    const { subject, contact, thread } = row
    return send(context, { subject: withPrefix('Re', subject), contact, body, files: [], size_mb: 0, thread })
  },
})

const forwardEmail = tool({
  name: 'forward_email',
  description: 'Forward an email with its attachments to another contact, in a new thread.',
  input: z.strictObject({
    email: emailKey(),
    contact: contactKey(),
    note: bodyField.describe('Text put before the forwarded one.').optional(),
  }),
  output: receipt(),
  annotations: { readOnly: false },
  establishes: ['email_sent'],
  sample({ db, random, bound }) {
    const fixed = bound.contact === undefined ? undefined : db.contacts.get(bound.contact)
    const fits = (row: Email, to: Contact) => wouldInterest(to, row) && !forwardObstacle(db, row, to)
    const email = choose(db.emails, random, bound.email, (row) => {
      const someone = fixed ?? db.contacts.find((to) => fits(row, to))
      return someone !== undefined && fits(row, someone)
    })
    const contact = email && choose(db.contacts, random, bound.contact, (to) => fits(email, to))
    if (!contact) return null
    const target = { email: email.email, contact: contact.contact }
    return { ...(random.chance(0.3) ? { ...target, note: note(random) } : target), ...bound }
  },
  run({ email, contact, note }, context) {
    const row = context.rowOf('emails', email)
    context.unless(forwardObstacle(context.db, row, context.rowOf('contacts', contact)))
    occupy(context, row.size_mb)
    const body = note === undefined ? row.body : `${note} / ${row.body}`.slice(0, 400)
    const { files, size_mb } = row
    return send(context, { subject: withPrefix('Fwd', row.subject), contact, body, files, size_mb, thread: null })
  },
})

const recallEmail = tool({
  name: 'recall_email',
  description: 'Take back an email that you sent in the last 30 minutes and nobody has opened; it returns as a draft.',
  input: z.strictObject({ email: emailKey() }),
  output: z.object({ subject: z.string(), email: emailKey(), draft: draftKey(), status: z.literal('recalled') }),
  annotations: { readOnly: false },
  needs: ['email_sent'],
  sample({ db, random, bound, now }) {
    const email = choose(db.emails, random, bound.email, (row) => {
      return (
        row.folder !== 'trash' && !recallObstacle(db, row, now()) && !writeToObstacle(db.contacts.get(row.contact)!)
      )
    })
    return email ? { email: email.email } : null
  },
  run({ email }, context) {
    const { unless, rowOf, db } = context
    const row = rowOf('emails', email)
    unless(recallObstacle(db, row, context.now()))
    const draft = context.nextId('draft')
    const { subject, contact, body, files, size_mb, thread } = row
    // The room that its attachments took passes from the email, which stays in its thread as a record, to the draft.
    db.emails.update(email, { recalled: true })
    db.drafts.insert({ draft, subject, contact, body, files, size_mb, status: 'open', thread, email: null })
    return { subject, email, draft, status: 'recalled' as const }
  },
})

export const sendingTools = [replyToEmail, forwardEmail, recallEmail]

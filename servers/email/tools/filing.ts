import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { countLabels, put } from '../changes.js'
import { addLabelObstacle, dateObstacle, moveObstacle, removeLabelObstacle, snoozeObstacle } from '../rules.js'
import { placesFor } from '../sampling.js'
import { dateField, type Email, type EmailView, emailKey, folder as folderField, labelKey, tool } from '../schema.js'
import { labelFits, subjectOf } from '../subjects.js'

const destination = z.enum(['inbox', 'archive', 'spam', 'trash'])

const changeLabel = tool({
  name: 'change_label',
  description: 'Add a label to an email or remove one; an email carries three at most. The label starred is its star.',
  input: z.strictObject({
    email: emailKey(),
    label: labelKey(),
    change: z.enum(['add', 'remove']).describe('Whether the label is added or removed.'),
  }),
  output: z.object({ subject: z.string(), email: emailKey(), labels: z.array(labelKey()), label_count: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const order = random.chance(0.3) ? (['remove', 'add'] as const) : (['add', 'remove'] as const)
    const labels = db.labels.list(({ label }) => bound.label === undefined || label === bound.label)
    for (const change of bound.change === undefined ? order : [bound.change]) {
      const fits = (email: Email, label: string) =>
        change === 'add'
          ? email.folder !== 'spam' && wouldCarry(db, email, label) && !addLabelObstacle(email, label)
          : isPassing(label) && !removeLabelObstacle(db, email, label)
      const email = choose(db.emails, random, bound.email, (row) => labels.some(({ label }) => fits(row, label)))
      const label = email && choose(db.labels, random, bound.label, (row) => fits(email, row.label))
      if (label) return { email: email.email, label: label.label, change }
    }
    return null
  },
  run({ email, label, change }, context) {
    const { unless, rowOf, db } = context
    const row = rowOf('emails', email)
    rowOf('labels', label)
    unless(change === 'add' ? addLabelObstacle(row, label) : removeLabelObstacle(db, row, label))
    const labels = change === 'add' ? [...row.labels, label] : row.labels.filter((other) => other !== label)
    db.emails.update(email, { labels })
    countLabels(context, [label], change === 'add' ? 1 : -1)
    return { subject: row.subject, email, labels, label_count: db.labels.get(label)!.emails }
  },
})

/** What somebody takes off an email in time. What it is about does not change. */
const isPassing = (label: string): boolean => ['starred', 'waiting', 'planning'].includes(label)

const wouldCarry = (db: EmailView, { subject, contact }: Email, label: string): boolean =>
  labelFits(label, subjectOf(subject), db.contacts.get(contact)!.relation)

const moveEmail = tool({
  name: 'move_email',
  description:
    'Move an email to another folder: archive it, put it in the trash, restore it or mark it as spam. Trash is kept 30 days.',
  input: z.strictObject({ email: emailKey(), folder: destination.describe('Folder that the email goes to.') }),
  output: z.object({ subject: z.string(), email: emailKey(), moved_from: folderField, folder: destination }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const date = today()
    const places = (row: Email) =>
      placesFor(db, row).filter((to) => to === (bound.folder ?? to) && !moveObstacle(db, row, to, date))
    const email = choose(db.emails, random, bound.email, (row) => places(row).length > 0)
    return email ? { email: email.email, folder: random.pick(places(email)) } : null
  },
  run({ email, folder }, context) {
    const row = context.rowOf('emails', email)
    context.unless(moveObstacle(context.db, row, folder, context.today()))
    put(context, row, folder)
    return { subject: row.subject, email, moved_from: row.folder, folder }
  },
})

const snoozeEmail = tool({
  name: 'snooze_email',
  description: 'Hide an email of the inbox until a date, at most 90 days ahead.',
  input: z.strictObject({ email: emailKey(), until: dateField }),
  output: z.object({ subject: z.string(), email: emailKey(), folder: folderField, until: z.string() }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const email = choose(db.emails, random, bound.email, (row) => !snoozeObstacle(db, row))
    return email ? { until: addDays(today(), random.int(1, 30)), ...bound, email: email.email } : null
  },
  run({ email, until }, context) {
    const row = context.rowOf('emails', email)
    context.unless(snoozeObstacle(context.db, row) ?? dateObstacle(until, context.today()))
    put(context, row, 'snoozed', until)
    return { subject: row.subject, email, folder: 'snoozed' as const, until }
  },
})

export const filingTools = [changeLabel, moveEmail, snoozeEmail]

import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { PAGE } from '../../kernel/lists.js'
import { put } from '../changes.js'
import { dateObstacle, deputiseObstacle, ruleObstacle, writeToObstacle } from '../rules.js'
import { bodyField, type Contact, contactKey, dateField, tool } from '../schema.js'
import { ABSENCE_NOTES } from '../words.js'

const setSenderRule = tool({
  name: 'set_sender_rule',
  description: 'Block a contact, which moves their mail to spam, or allow a blocked one, which brings it back.',
  input: z.strictObject({
    contact: contactKey(),
    rule: z.enum(['block', 'allow']).describe('block turns their mail into spam, allow takes that back.'),
  }),
  output: z.object({
    name: z.string(),
    contact: contactKey(),
    rule: z.enum(['block', 'allow']),
    emails_moved: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const order = random.chance(0.35) ? (['allow', 'block'] as const) : (['block', 'allow'] as const)
    for (const rule of bound.rule === undefined ? order : [bound.rule]) {
      // Nobody shuts out friends, family or those they work for.
      const fits = (row: Contact) => (rule === 'allow' || row.relation === 'service') && !ruleObstacle(row, rule)
      const contact = choose(db.contacts, random, bound.contact, fits)
      if (contact) return { contact: contact.contact, rule }
    }
    return null
  },
  run({ contact, rule }, context) {
    const { unless, rowOf, db } = context
    const row = rowOf('contacts', contact)
    unless(ruleObstacle(row, rule))
    db.contacts.update(contact, { blocked: rule === 'block' })
    const places = rule === 'block' ? ['inbox', 'snoozed'] : ['spam']
    const mail = db.emails.list((email) => email.contact === contact && places.includes(email.folder))
    for (const email of mail) put(context, email, rule === 'block' ? 'spam' : 'inbox')
    return { name: row.name, contact, rule, emails_moved: mail.length }
  },
})

const setAutoReply = tool({
  name: 'set_auto_reply',
  description:
    "Turn on the out-of-office reply until a date, naming a colleague who stands in. It answers today's inbox once.",
  input: z.strictObject({
    contact: contactKey(),
    until: dateField,
    note: bodyField.describe('Text added to the automatic reply.').optional(),
  }),
  output: z.object({
    status: z.literal('on'),
    contact: contactKey(),
    until: z.string(),
    answered: z.array(contactKey()),
  }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound, today }) {
    const until = bound.until ?? addDays(today(), random.int(1, 30))
    const contact = choose(db.contacts, random, bound.contact, (row) => !deputiseObstacle(row, until))
    if (!contact) return null
    const absence = { contact: contact.contact, until }
    return { ...(random.chance(0.3) ? { ...absence, note: random.pick(ABSENCE_NOTES) } : absence), ...bound }
  },
  run({ contact, until, note = '' }, context) {
    const { unless, rowOf, db } = context
    const today = context.today()
    unless(deputiseObstacle(rowOf('contacts', contact), until) ?? dateObstacle(until, today))
    const stated = db.mailbox.get('me')!.auto_reply?.stated ?? []
    const senders = db.emails
      .list(({ folder, direction, at }) => folder === 'inbox' && direction === 'received' && at.startsWith(today))
      .map((email) => email.contact)
      .filter((key) => !stated.includes(key) && !writeToObstacle(rowOf('contacts', key)))
    const answered = [...new Set(senders)].slice(0, PAGE.short)
    db.mailbox.update('me', { auto_reply: { contact, until, note, stated: [...stated, ...answered] } })
    return { status: 'on' as const, contact, until, answered }
  },
})

export const settingsTools = [setSenderRule, setAutoReply]

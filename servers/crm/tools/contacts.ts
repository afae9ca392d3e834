import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { mentioning, slug } from '../../kernel/text.js'
import { contactOf } from '../lookup.js'
import { contactText, freeKey, inMyTerritory, isMine, mergeObstacle } from '../rules.js'
import { type CrmContact, type CrmView, tool } from '../schema.js'
import { FIRST_NAMES, LAST_NAMES } from '../words.js'

/** The other records of a person. */
const twinsOf = (db: CrmView, contact: CrmContact): CrmContact[] =>
  db.contacts
    .by('company', contact.company)
    .filter((row) => row.merged_into === null && mergeObstacle(db, row, contact) === undefined)

const findCrmContacts = tool({
  name: 'find_crm_contacts',
  description: 'Find contacts by words of their name, email address or company.',
  input: z.strictObject({ query: z.string().trim().min(2).max(60).describe('As in "ana lima" or "copper foods".') }),
  output: z.object({
    found: z.int(),
    contacts: z.array(
      z.object({
        name: z.string(),
        crm_contact: ref('crm_contact'),
        email: z.string().optional().describe('Of a person with two records.'),
        // Not a reference: beside it stands the name of the contact, not of the company.
        company: z.string(),
        may_contact: z.boolean(),
      }),
    ),
  }),
  pages: { contacts: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    // Mostly people that the user can plan something with, and some who are in the system twice.
    const near = random.chance(0.6)
    const twice = near && random.chance(0.3)
    const fits = (row: CrmContact) =>
      row.merged_into === null &&
      (!near || isMine(db, db.companies.get(row.company)!)) &&
      (!twice || twinsOf(db, row).length > 0)
    const { name, company } = choose(db.contacts, random, undefined, fits) ?? db.contacts.list()[0]!
    const query = random.pick([name, name, name, db.companies.get(company)!.name, name.split(' ').at(-1)!])
    return { query, ...bound }
  },
  run({ query }, { db }) {
    const matches = mentioning(query)
    const found = db.contacts.list(({ text, merged_into }) => merged_into === null && matches(text))
    const contacts = found.map(({ name, crm_contact, email, company, do_not_contact }) => ({
      name,
      crm_contact,
      ...(found.some((other) => other.name === name && other.crm_contact !== crm_contact) ? { email } : {}),
      company,
      may_contact: !do_not_contact,
    }))
    return { found: found.length, contacts }
  },
})

const addCrmContact = tool({
  name: 'add_crm_contact',
  description: 'Add a contact to a company of your territory. No two contacts have the same email address.',
  input: z.strictObject({
    company: ref('company'),
    name: z
      .string()
      .trim()
      .min(3)
      .max(40)
      .regex(/^[A-Za-z][A-Za-z .'-]+$/, 'a name has letters, spaces, points, hyphens and apostrophes')
      .describe('First and last name.'),
    email: z
      .string()
      .trim()
      .max(60)
      .regex(/^[a-z0-9.]+@[a-z0-9.-]+\.[a-z]{2,}$/, 'an email address in lower case')
      .describe('Email address in lower case.'),
  }),
  output: z.object({ name: z.string(), crm_contact: ref('crm_contact'), company: ref('company') }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const company = choose(db.companies, random, bound.company, (row) => inMyTerritory(db, row))
    if (!company) return null
    const name = bound.name ?? `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`
    const email = bound.email ?? `${slug(name).replaceAll('-', '.')}@${slug(company.name)}.com`
    return db.contacts.by('email', email).length > 0 ? null : { company: company.company, name, email }
  },
  run({ company: key, name, email }, { rowOf, db, fail }) {
    const company = rowOf('companies', key)
    if (!inMyTerritory(db, company)) fail('outside_territory', `${company.city} is not in your territory.`)
    const holder = db.contacts.by('email', email)[0]
    if (holder) fail('email_taken', `${holder.crm_contact} has that email address.`)
    return db.contacts.insert({
      crm_contact: freeKey((taken) => db.contacts.has(taken), name),
      name,
      email,
      company: key,
      do_not_contact: false,
      merged_into: null,
      text: contactText(name, email, company.name),
    })
  },
})

const mergeCrmContacts = tool({
  name: 'merge_crm_contacts',
  description:
    'Merge a duplicate contact into another of the same name and company in your territory. Deals and activities move over; if either does not want to be contacted, that stays so.',
  input: z.strictObject({
    from_contact: ref('crm_contact', 'The duplicate, which cannot be used any more.'),
    into_contact: ref('crm_contact', 'The contact that is kept.'),
  }),
  output: z.object({
    name: z.string(),
    crm_contact: ref('crm_contact'),
    may_contact: z.boolean(),
    deals: z.int().describe('Deals that moved over.'),
    activities: z.int(),
  }),
  annotations: { readOnly: false, destructive: true },
  sample({ db, random, bound }) {
    const fits = (from: CrmContact, into: CrmContact) =>
      (from.merged_into ?? into.merged_into) === null && mergeObstacle(db, from, into) === undefined
    if (bound.from_contact !== undefined && bound.into_contact !== undefined) {
      const [from, into] = [db.contacts.get(bound.from_contact), db.contacts.get(bound.into_contact)]
      return from && into && fits(from, into)
        ? { from_contact: from.crm_contact, into_contact: into.crm_contact }
        : null
    }
    const one = choose(
      db.contacts,
      random,
      bound.from_contact ?? bound.into_contact,
      (row) => row.merged_into === null && twinsOf(db, row).length > 0,
    )
    if (!one) return null
    const other = random.pick(twinsOf(db, one)).crm_contact
    return bound.into_contact === undefined
      ? { from_contact: one.crm_contact, into_contact: other }
      : { from_contact: other, into_contact: one.crm_contact }
  },
  run({ from_contact, into_contact }, context) {
    const { unless, db } = context
    const from = contactOf(context, from_contact)
    const into = contactOf(context, into_contact)
    unless(mergeObstacle(db, from, into))
    const refuses = from.do_not_contact || into.do_not_contact
    const deals = db.deals.by('crm_contact', from_contact)
    for (const { deal } of deals) db.deals.update(deal, { crm_contact: into_contact })
    const activities = db.activities.by('crm_contact', from_contact)
    for (const { activity } of activities) db.activities.update(activity, { crm_contact: into_contact })
    if (refuses) {
      db.contacts.update(into_contact, { do_not_contact: true })
      for (const { activity, status } of db.activities.by('crm_contact', into_contact))
        if (status === 'open') db.activities.update(activity, { status: 'dropped' })
    }
    db.contacts.update(from_contact, { merged_into: into_contact })
    return {
      name: into.name,
      crm_contact: into_contact,
      may_contact: !refuses,
      deals: deals.length,
      activities: activities.length,
    }
  },
})

export const contactTools = [findCrmContacts, addCrmContact, mergeCrmContacts]

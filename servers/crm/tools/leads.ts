import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { slug } from '../../kernel/text.js'
import { companyOfLead, contactWithEmail, conversionObstacle, stepObstacle } from '../lead-rules.js'
import { cityNamed, contactText, freeKey, inMyTerritory, isMine, LIMITS, me } from '../rules.js'
import { sampleBudget } from '../sampling.js'
import { type Context, type CrmView, LEAD_STATUSES, type Lead, tool } from '../schema.js'
import { addToPipeline } from './pipeline.js'

const STEPS = ['contacted', 'qualified', 'lost'] as const

/** Yours, or nobody's in your territory. */
const isWithinReach = (db: CrmView, lead: Lead): boolean =>
  isMine(db, lead) || (lead.rep === null && inMyTerritory(db, lead))

/** Beyond new, and neither converted nor lost. */
const isInProgress = ({ status }: Lead): boolean => status === 'contacted' || status === 'qualified'

const findLeads = tool({
  name: 'find_leads',
  description: "Find the leads of a status that are yours, or that are nobody's and in your territory.",
  input: z.strictObject({
    status: z.enum(LEAD_STATUSES).describe('Only leads of this status.'),
    city: common(
      'city',
      z.string().trim().min(2).max(40).optional().describe('Only leads in this city, such as Oslo.'),
    ),
  }),
  output: z.object({
    found: z.int(),
    leads: z.array(
      z.object({ name: z.string(), lead: ref('lead'), firm: z.string(), city: common('city', z.string()) }),
    ),
  }),
  pages: { leads: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const fits = (row: Lead) => isWithinReach(db, row) && row.status === (bound.status ?? row.status)
    const inProgress = bound.status === undefined && random.chance(0.5)
    const lead =
      (inProgress ? choose(db.leads, random, undefined, (row) => isInProgress(row) && fits(row)) : undefined) ??
      choose(db.leads, random, undefined, fits)
    if (!lead) return null
    const city = bound.city ?? (random.chance(0.4) ? lead.city : undefined)
    return { status: lead.status, ...(city === undefined ? {} : { city }) }
  },
  run({ status, city }, { db }) {
    const place = city === undefined ? undefined : cityNamed(city)
    const leads = db.leads
      .by('status', status)
      .filter((row) => (place === undefined || row.city === place) && isWithinReach(db, row))
    return { found: leads.length, leads }
  },
})

const advanceLead = tool({
  name: 'advance_lead',
  description: `Move a lead one step: new, contacted, qualified; or to lost. Contacting a lead that is nobody's makes it yours, up to ${LIMITS.openLeads} open ones; qualifying takes a budget of at least ${LIMITS.budget}.`,
  input: z.strictObject({
    lead: ref('lead'),
    status: z.enum(STEPS).describe('The status that the lead gets.'),
    budget: z.int().min(1).max(1_000_000).optional().describe('What the lead can spend.'),
  }),
  output: z.object({
    name: z.string(),
    lead: ref('lead'),
    firm: z.string(),
    status: z.string(),
    budget: z.int().nullable(),
  }),
  annotations: { readOnly: false },
  establishes: ['lead_qualified'],
  sample({ db, random, bound }) {
    const able = (row: Lead) =>
      STEPS.filter(
        (status) =>
          status === (bound.status ?? status) &&
          stepObstacle(db, row, status, bound.budget ?? row.budget ?? LIMITS.budget) === undefined,
      )
    const lead = choose(db.leads, random, bound.lead, (row) => able(row).length > 0)
    if (!lead) return null
    const steps = able(lead)
    const forward = steps.filter((status) => status !== 'lost')
    const status = random.pick(forward.length > 0 && random.chance(0.8) ? forward : steps)
    const given = status === 'qualified' && lead.budget === null ? sampleBudget(random) : undefined
    const budget = bound.budget ?? given
    return { lead: lead.lead, status, ...(budget === undefined ? {} : { budget }) }
  },
  run({ lead: key, status, budget }, { rowOf, unless, db }) {
    const lead = rowOf('leads', key)
    const known = budget ?? lead.budget
    unless(stepObstacle(db, lead, status, known))
    const rep = status === 'contacted' ? me(db).rep : lead.rep
    return db.leads.update(key, { status, budget: known, rep })
  },
})

const convertLead = tool({
  name: 'convert_lead',
  description:
    'Convert a qualified lead of yours into a deal in discovery. Its firm becomes a company of yours unless it is one already, and the person a contact.',
  input: z.strictObject({ lead: ref('lead') }),
  output: z.object({
    title: z.string(),
    deal: ref('deal'),
    company: ref('company'),
    crm_contact: ref('crm_contact'),
    amount: z.int(),
    pipeline: z.int().describe('Value of all your open deals.'),
  }),
  annotations: { readOnly: false },
  needs: ['lead_qualified'],
  sample({ db, random, bound }) {
    const lead = choose(db.leads, random, bound.lead, (row) => conversionObstacle(db, row) === undefined)
    return lead ? { lead: lead.lead } : null
  },
  run({ lead: key }, context) {
    const { rowOf, unless, db, nextId } = context
    const lead = rowOf('leads', key)
    unless(conversionObstacle(db, lead))
    const company = companyOfLead(db, lead)?.company ?? foundCompany(context, lead)
    const crm_contact = contactAt(context, lead, company)
    const { rep } = me(db)
    const { deal, title, amount } = db.deals.insert({
      deal: nextId('deal'),
      title: `${lead.firm} ${lead.interest}`,
      company,
      crm_contact,
      rep,
      stage: 'discovery',
      amount: lead.budget!,
      discount: 0,
      approved: false,
      request: null,
      close_date: null,
      closed_on: null,
    })
    db.leads.update(key, { status: 'converted', deal })
    addToPipeline(context, rep, amount)
    return { title, deal, company, crm_contact, amount, pipeline: db.reps.get(rep)!.pipeline }
  },
})

/** Makes the firm of a lead a company of the user, who has just talked to it. Returns its key. */
function foundCompany({ db, today }: Context, { firm, address, city }: Lead): string {
  const isTaken = (key: string) => db.companies.has(key)
  return db.companies.insert({
    company: freeKey(isTaken, isTaken(slug(firm)) ? `${firm} ${city}` : firm),
    name: firm,
    address,
    city,
    rep: me(db).rep,
    last_reached: today(),
    text: `${firm} ${city}`.toLowerCase(),
  }).company
}

/** The person of a lead as a contact of the company: the one with the lead's email address, or a new one. Returns its key. */
function contactAt({ db }: Context, { name, email, firm }: Lead, company: string): string {
  const known = contactWithEmail(db, email)
  if (known) return known.crm_contact
  return db.contacts.insert({
    crm_contact: freeKey((key) => db.contacts.has(key), name),
    name,
    email,
    company,
    do_not_contact: false,
    merged_into: null,
    text: contactText(name, email, firm),
  }).crm_contact
}

export const leadTools = [findLeads, advanceLead, convertLead]

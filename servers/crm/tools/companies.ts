import { z } from 'zod'
import { choices, choose, pickFrom } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { handOverObstacle, inMyTerritory, isMine, LIMITS, me } from '../rules.js'
import { TERRITORIES, tool } from '../schema.js'
import { changeDeal } from './pipeline.js'

const findCompanies = tool({
  name: 'find_companies',
  description: 'Find companies by words of their name and city, with their address and the rep who owns them.',
  input: z.strictObject({ query: z.string().trim().min(2).max(60).describe('As in "copper foods" or "oslo".') }),
  output: z.object({
    found: z.int(),
    companies: z.array(
      z.object({
        name: z.string(),
        company: ref('company'),
        address: common('address', z.string()),
        owner: z.string(),
      }),
    ),
  }),
  pages: { companies: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    // Mostly companies that the user can do something with.
    const near = random.chance(0.6)
    const { name } =
      choose(db.companies, random, undefined, (row) => !near || inMyTerritory(db, row)) ?? db.companies.list()[0]!
    const query = random.pick([name, name, name, name.split(' ')[0]!])
    return { query, ...bound }
  },
  run({ query }, { db }) {
    const matches = mentioning(query)
    const companies = db.companies.list(({ text }) => matches(text))
    return {
      found: companies.length,
      companies: companies.map(({ name, company, address, rep }) => ({
        name,
        company,
        address,
        owner: db.reps.get(rep)!.name,
      })),
    }
  },
})

const listReps = tool({
  name: 'list_reps',
  description:
    'List the sales reps of a territory with their quota for the year, what they have won and what is open, and of each other rep one discount request that waits for approval, if any does.',
  input: z.strictObject({ territory: z.enum(TERRITORIES).describe('Sales territory.') }),
  output: z.object({
    found: z.int(),
    reps: z.array(
      z.object({
        name: z.string(),
        rep: ref('rep'),
        quota: z.int(),
        won: z.int(),
        pipeline: z.int(),
        you: z.literal(true).optional(),
        requests: z.array(z.object({ title: z.string(), discount_request: ref('discount_request') })),
      }),
    ),
  }),
  pages: { reps: 'short' },
  annotations: { readOnly: true },
  // Mostly one's own: a company stays in its territory.
  sample: ({ db, random, bound }) => ({
    territory: random.chance(0.6) ? me(db).territory : random.pick(TERRITORIES),
    ...bound,
  }),
  run({ territory }, { db }) {
    const reps = db.reps.by('territory', territory)
    return {
      found: reps.length,
      reps: reps.map((row) => ({
        ...row,
        ...(row.is_me ? { you: true as const } : {}),
        // One each: a result is as long as a policy reads without losing its place.
        requests: db.deals
          .by('rep', row.rep)
          .flatMap(({ request }) => (request === null || row.is_me ? [] : [db.discount_requests.get(request)!]))
          .slice(0, 1),
      })),
    }
  },
})

const handOverCompany = tool({
  name: 'hand_over_company',
  description: `Give a company of your territory to another rep of it, with its open deals and activities. A rep owns up to ${LIMITS.companies} companies; not while a discount for the company waits for approval.`,
  input: z.strictObject({ company: ref('company'), rep: ref('rep', 'The new owner.') }),
  output: z.object({
    name: z.string(),
    company: ref('company'),
    rep: ref('rep'),
    deals: z.int().describe('Open deals that changed hands.'),
    activities: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    // People give away what is theirs, to somebody else.
    const reps = choices(db.reps, bound.rep, ({ is_me }) => !is_me)
    const company = choose(
      db.companies,
      random,
      bound.company,
      (row) => isMine(db, row) && reps.some((rep) => handOverObstacle(db, row, rep) === undefined),
    )
    if (!company) return null
    const rep = pickFrom(
      random,
      reps.filter((row) => handOverObstacle(db, company, row) === undefined),
    )
    return rep ? { company: company.company, rep: rep.rep } : null
  },
  run({ company: key, rep: to }, context) {
    const { rowOf, unless, db } = context
    const company = rowOf('companies', key)
    const rep = rowOf('reps', to)
    unless(handOverObstacle(db, company, rep))
    db.companies.update(key, { rep: to })
    const deals = db.deals.by('company', key).filter(({ stage }) => stage !== 'won' && stage !== 'lost')
    for (const deal of deals) changeDeal(context, deal, { rep: to })
    const activities = db.contacts
      .by('company', key)
      .flatMap(({ crm_contact }) => db.activities.by('crm_contact', crm_contact))
      .filter(({ status }) => status === 'open')
    for (const { activity } of activities) db.activities.update(activity, { rep: to })
    return { name: company.name, company: key, rep: to, deals: deals.length, activities: activities.length }
  },
})

export const companyTools = [findCompanies, listReps, handOverCompany]

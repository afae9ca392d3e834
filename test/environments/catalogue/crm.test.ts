import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { crm } from '../../../servers/crm/index.js'
import { conversionObstacle, openLeads, stepObstacle } from '../../../servers/crm/lead-rules.js'
import { freeKey, inMyTerritory, isMine, LIMITS, me, netValue, territoryOf } from '../../../servers/crm/rules.js'
import type { Activity, Company, CrmContact, CrmView, Deal, Lead } from '../../../servers/crm/schema.js'
import { workdayAfter, workdayUpTo } from '../../../servers/crm/time.js'
import { isWorkday } from '../../../servers/kernel/dates.js'
import { CITIES } from '../../../servers/kernel/gazetteer.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { type Call, succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'
const view = (session: Session) => session.db as unknown as CrmView
const open = (seed: number) => Session.open(generateSeedState(crm, seed))

const refuse = (session: Session, [tool, args]: Call): string => {
  const result = session.call(tool, args)
  return result.ok ? 'succeeded' : result.code
}

const company = (session: Session, fits: (row: Company) => boolean): Company => view(session).companies.find(fits)!
const contact = (session: Session, fits: (row: CrmContact) => boolean): CrmContact => view(session).contacts.find(fits)!
const lead = (session: Session, fits: (row: Lead) => boolean): Lead => view(session).leads.find(fits)!
const myDeal = (session: Session, fits: (row: Deal) => boolean): Deal =>
  view(session).deals.find((row) => isMine(view(session), row) && fits(row))!
const myActivity = (session: Session, fits: (row: Activity) => boolean): Activity =>
  view(session).activities.find((row) => isMine(view(session), row) && fits(row))!

const mine = (session: Session) => (row: Company | Lead) => isMine(view(session), row)
const near = (session: Session) => (row: Company | Lead) => inMyTerritory(view(session), row)
const myCompanyOf = (session: Session, { company: key }: CrmContact | Deal) =>
  mine(session)(view(session).companies.get(key)!)
/** A contact of one of the user's companies whom the user may plan something with. */
const willing = (session: Session, fits: (row: CrmContact) => boolean = () => true): CrmContact =>
  contact(session, (row) => !row.do_not_contact && myCompanyOf(session, row) && fits(row))
const colleague = (session: Session, index = 0) =>
  view(session)
    .reps.by('territory', me(view(session)).territory)
    .filter(({ is_me }) => !is_me)[index]!

const plan = ({ crm_contact }: CrmContact, date: string, kind = 'call'): Call => [
  'plan_activity',
  { crm_contact, kind, date },
]
const complete = ({ activity }: Activity, outcome = 'successful'): Call => ['complete_activity', { activity, outcome }]
const move = ({ deal }: Deal, stage: string, close_date?: string): Call => [
  'move_deal',
  { deal, stage, ...(close_date === undefined ? {} : { close_date }) },
]
const discount = ({ deal }: Deal, percent: number): Call => ['discount_deal', { deal, percent }]
const approve = (discount_request: string): Call => ['approve_discount', { discount_request }]
const advance = (row: Lead, status: string, budget?: number): Call => [
  'advance_lead',
  { lead: row.lead, status, ...(budget === undefined ? {} : { budget }) },
]
const handOver = (row: Company, rep: string): Call => ['hand_over_company', { company: row.company, rep }]

/** Two records of one person in a company of the user's territory. */
function twins(session: Session): [from: CrmContact, into: CrmContact] {
  const into = contact(
    session,
    (row) => near(session)(view(session).companies.get(row.company)!) && twinOf(session, row) !== undefined,
  )
  return [twinOf(session, into)!, into]
}
const twinOf = (session: Session, { crm_contact, name, company: at }: CrmContact): CrmContact | undefined =>
  view(session)
    .contacts.by('company', at)
    .find((row) => row.name === name && row.crm_contact !== crm_contact)

const isNew = (session: Session) => (row: Lead) =>
  row.status === 'new' && row.rep === null && stepObstacle(view(session), row, 'contacted', null) === undefined
/** The company of the deal has been reached lately. */
const isWarm = (session: Session) => (row: Deal) =>
  (view(session).companies.get(row.company)!.last_reached ?? '') > '2026-02-01'
const ripe = (session: Session, warm: boolean) => (row: Deal) =>
  row.stage === 'negotiation' && row.request === null && isWarm(session)(row) === warm

checkEnvironmentContract(crm, {
  provoke: {
    unknown_rep: () => ['find_deals', { stage: 'won', rep: 'nobody-here' }],
    unknown_company: (s) => ['hand_over_company', { company: 'acme', rep: colleague(s).rep }],
    unknown_crm_contact: () => ['plan_activity', { crm_contact: 'nobody-here', kind: 'call', date: TODAY }],
    unknown_lead: () => ['convert_lead', { lead: 'lead-7' }],
    unknown_deal: () => ['discount_deal', { deal: 'deal-7', percent: 5 }],
    unknown_discount_request: () => approve('request-7'),
    unknown_activity: () => ['complete_activity', { activity: 'call-7', outcome: 'successful' }],
    outside_territory: (s) =>
      handOver(
        company(s, (row) => !near(s)(row)),
        colleague(s).rep,
      ),
    not_your_company: (s) =>
      plan(
        contact(s, (row) => !myCompanyOf(s, row)),
        TODAY,
      ),
    not_your_lead: (s) =>
      advance(
        lead(s, (row) => row.rep === colleague(s).rep),
        'lost',
      ),
    not_your_deal: (s) => discount(view(s).deals.find((row) => !isMine(view(s), row))!, 5),
    not_your_activity: (s) => complete(view(s).activities.find((row) => !isMine(view(s), row))!),
    rep_elsewhere: (s) =>
      handOver(company(s, mine(s)), view(s).reps.find((row) => row.territory !== me(view(s)).territory)!.rep),
    already_owner: (s) => handOver(company(s, mine(s)), me(view(s)).rep),
    rep_full: (s) => {
      const full = view(s).reps.find(({ rep }) => view(s).companies.by('rep', rep).length === LIMITS.companies)!
      return handOver(company(s, mine(s)), full.rep)
    },
    lead_closed: (s) =>
      advance(
        lead(s, (row) => mine(s)(row) && row.status === 'lost'),
        'contacted',
      ),
    lead_step_not_allowed: (s) => advance(lead(s, isNew(s)), 'qualified', 5000),
    too_many_leads: (s) => {
      while (openLeads(view(s), me(view(s)).rep) < LIMITS.openLeads)
        succeed(s, ...advance(lead(s, isNew(s)), 'contacted'))
      return advance(
        lead(s, (row) => row.status === 'new' && near(s)(row)),
        'contacted',
      )
    },
    budget_required: (s) =>
      advance(
        lead(s, (row) => mine(s)(row) && row.status === 'contacted'),
        'qualified',
      ),
    budget_too_small: (s) =>
      advance(
        lead(s, (row) => mine(s)(row) && row.status === 'contacted'),
        'qualified',
        LIMITS.budget - 1,
      ),
    lead_not_qualified: (s) => [
      'convert_lead',
      { lead: lead(s, (row) => mine(s)(row) && row.status === 'contacted').lead },
    ],
    do_not_contact: (s) =>
      plan(
        contact(s, (row) => row.do_not_contact && myCompanyOf(s, row)),
        TODAY,
      ),
    email_taken: (s) => {
      const { email } = contact(s, () => true)
      return ['add_crm_contact', { company: company(s, mine(s)).company, name: 'Ana Again', email }]
    },
    contact_merged: (s) => {
      const [from, into] = twins(s)
      const both = { from_contact: from.crm_contact, into_contact: into.crm_contact }
      succeed(s, 'merge_crm_contacts', both)
      return ['merge_crm_contacts', both]
    },
    same_contact: (s) => {
      const { crm_contact } = willing(s)
      return ['merge_crm_contacts', { from_contact: crm_contact, into_contact: crm_contact }]
    },
    not_duplicates: (s) => {
      const one = willing(s)
      const other = willing(s, (row) => row.name !== one.name)
      return ['merge_crm_contacts', { from_contact: one.crm_contact, into_contact: other.crm_contact }]
    },
    deal_closed: (s) =>
      move(
        myDeal(s, ({ stage }) => stage === 'won'),
        'lost',
      ),
    stage_not_allowed: (s) =>
      move(
        myDeal(s, ({ stage }) => stage === 'discovery'),
        'won',
      ),
    close_date_required: (s) => {
      const row = myDeal(s, ({ stage, close_date }) => stage === 'discovery' && close_date === null)
      succeed(s, ...move(row, 'proposal'))
      return move(row, 'negotiation')
    },
    date_in_past: (s) => plan(willing(s), '2026-02-27'),
    date_too_far: (s) => plan(willing(s), '2056-03-01'),
    negotiation_full: (s) => {
      for (const row of view(s).deals.by('rep', me(view(s)).rep))
        if (row.stage === 'proposal' && refuse(s, move(row, 'negotiation', '2026-04-01')) === 'negotiation_full')
          return move(row, 'negotiation', '2026-04-01')
      throw new Error('there is always room')
    },
    approval_pending: (s) =>
      move(
        myDeal(s, ({ request }) => request !== null),
        'won',
      ),
    no_recent_contact: (s) => move(myDeal(s, ripe(s, false)), 'won'),
    not_discountable: (s) =>
      discount(
        myDeal(s, ({ stage }) => stage === 'discovery'),
        5,
      ),
    discount_too_high: (s) =>
      discount(
        myDeal(s, ({ stage }) => stage === 'proposal'),
        LIMITS.discountMost + 1,
      ),
    request_closed: (s) => {
      const { request } = view(s).deals.find((row) => row.request !== null && row.rep === colleague(s).rep)!
      succeed(s, ...approve(request!))
      return approve(request!)
    },
    own_discount: (s) => approve(myDeal(s, ({ request }) => request !== null).request!),
    not_a_workday: (s) => plan(willing(s), '2026-03-07'),
    day_full: (s) => {
      const date = workdayAfter(TODAY)
      const planned = view(s).activities.by('date', date)
      return plan(
        willing(s, (row) => !planned.some(({ crm_contact }) => crm_contact === row.crm_contact)),
        date,
      )
    },
    activity_exists: (s) => {
      const row = willing(s)
      succeed(s, ...plan(row, '2026-03-20'))
      return plan(row, '2026-03-20')
    },
    activity_closed: (s) => complete(myActivity(s, ({ status }) => status === 'done')),
    not_due_yet: (s) => complete(myActivity(s, ({ status, date }) => status === 'open' && date > TODAY)),
  },
})

test('a lead becomes yours when contacted, qualifies with a budget, and turns into company, contact and deal', () => {
  const session = open(3)
  const row = lead(session, isNew(session))
  const before = me(view(session)).pipeline
  succeed(session, ...advance(row, 'contacted'))
  assert.is(view(session).leads.get(row.lead)!.rep, me(view(session)).rep)
  succeed(session, ...advance(row, 'qualified', 12_500))
  const stated = succeed(session, 'convert_lead', { lead: row.lead })
  assert.is(stated.title, `${row.firm} ${row.interest}`)
  assert.is(stated.amount, 12_500)
  assert.is(stated.pipeline, before + 12_500)
  const made = view(session).companies.get(stated.company as string)!
  assert.equal([made.name, made.address, made.rep], [row.firm, row.address, me(view(session)).rep])
  assert.is(view(session).contacts.get(stated.crm_contact as string)!.email, row.email)
  assert.is(refuse(session, ['convert_lead', { lead: row.lead }]), 'lead_closed')
  const listed = succeed(session, 'find_deals', { stage: 'discovery' })
  assert.ok((listed.found as number) > 0)
})

test('a lead of a firm that is known joins it, unless it belongs to another rep', () => {
  const session = open(4)
  const qualified = (row: Lead) => row.status === 'qualified' && mine(session)(row)
  const known = (row: Lead) => view(session).companies.by('name', row.firm)[0]
  const own = lead(session, (row) => qualified(row) && known(row) !== undefined && mine(session)(known(row)!))
  assert.is(succeed(session, 'convert_lead', { lead: own.lead }).company, known(own)!.company)
  const other = lead(session, (row) => qualified(row) && known(row) !== undefined && !mine(session)(known(row)!))
  assert.is(conversionObstacle(view(session), other)?.code, 'not_your_company')
  assert.is(refuse(session, ['convert_lead', { lead: other.lead }]), 'not_your_company')
})

test('a deal is won once somebody of the company was reached, and counts for the quota after its discount', () => {
  const session = open(5)
  const row = myDeal(session, ripe(session, false))
  assert.is(refuse(session, move(row, 'won')), 'no_recent_contact')
  const person = willing(session, ({ company: at }) => at === row.company)
  const planned = succeed(session, ...plan(person, TODAY, 'visit'))
  succeed(session, 'complete_activity', { activity: planned.activity, outcome: 'successful' })
  const { value } = succeed(session, ...discount(row, 10))
  assert.is(value, row.amount - Math.floor(row.amount / 10))
  const { won, pipeline } = me(view(session))
  const stated = succeed(session, ...move(row, 'won'))
  assert.is(stated.won, won + (value as number))
  assert.is(stated.pipeline, pipeline - (value as number))
  assert.is(refuse(session, discount(row, 5)), 'deal_closed')
})

test('a discount above what a rep gives alone waits for another rep and does not change the value until approved', () => {
  const session = open(6)
  const row = myDeal(session, ({ stage, discount: given }) => stage === 'proposal' && given === 0)
  const asked = succeed(session, ...discount(row, LIMITS.discountAlone + 5))
  assert.equal([asked.discount, asked.requested, asked.value], [0, LIMITS.discountAlone + 5, row.amount])
  const own = view(session).deals.get(row.deal)!.request!
  assert.is(refuse(session, approve(own)), 'own_discount')
  // A discount that needs nobody withdraws the request.
  const given = succeed(session, ...discount(row, LIMITS.discountAlone))
  assert.equal([given.discount, given.requested], [LIMITS.discountAlone, null])
  assert.is(refuse(session, approve(own)), 'request_closed')

  const theirs = view(session).deals.find((deal) => deal.request !== null && deal.rep === colleague(session).rep)!
  const { percent } = view(session).discount_requests.get(theirs.request!)!
  const { pipeline } = view(session).reps.get(theirs.rep)!
  const stated = succeed(session, ...approve(theirs.request!))
  assert.equal([stated.discount, stated.rep], [percent, theirs.rep])
  const change = (stated.value as number) - netValue(theirs)
  assert.is(view(session).reps.get(theirs.rep)!.pipeline, pipeline + change)
})

test('back in discovery a deal loses its discount and its request', () => {
  const session = open(7)
  const row = myDeal(session, ({ request }) => request !== null)
  succeed(session, ...move(row, 'proposal'))
  const stated = succeed(session, ...move(row, 'discovery'))
  assert.is(stated.value, row.amount)
  assert.is(view(session).discount_requests.get(row.request!)!.status, 'withdrawn')
})

test('a company is handed over with its open deals, their value and its activities, and is then out of reach', () => {
  const session = open(8)
  const isFree = ({ request }: Deal) => request === null
  const to = view(session)
    .reps.by('territory', me(view(session)).territory)
    .find(({ rep, is_me }) => !is_me && view(session).companies.by('rep', rep).length < LIMITS.companies)!
  const row = company(session, (candidate) => {
    const deals = view(session).deals.by('company', candidate.company)
    return mine(session)(candidate) && deals.every(isFree) && deals.some(({ stage }) => stage === 'proposal')
  })
  const deals = view(session)
    .deals.by('company', row.company)
    .filter(({ stage }) => stage !== 'won' && stage !== 'lost')
  const sum = deals.reduce<number>((total, deal) => total + netValue(deal), 0)
  const { pipeline } = me(view(session))
  const stated = succeed(session, ...handOver(row, to.rep))
  assert.is(stated.deals, deals.length)
  assert.is(me(view(session)).pipeline, pipeline - sum)
  assert.is(view(session).reps.get(to.rep)!.pipeline, to.pipeline + sum)
  assert.is(refuse(session, move(deals[0]!, 'lost')), 'not_your_deal')
  const person = contact(session, ({ company: at, do_not_contact }) => at === row.company && !do_not_contact)
  assert.is(refuse(session, plan(person, '2026-03-20')), 'not_your_company')
})

test('who refuses is never contacted again, and what was planned with them is dropped', () => {
  const session = open(9)
  const due = myActivity(session, ({ status, date }) => status === 'open' && date <= TODAY)
  const person = view(session).contacts.get(due.crm_contact)!
  const later = succeed(session, ...plan(person, '2026-03-23', 'demo'))
  const stated = succeed(session, ...complete(due, 'refused'))
  assert.ok((stated.dropped as number) >= 1)
  assert.is(view(session).activities.get(later.activity as string)!.status, 'dropped')
  assert.is(refuse(session, plan(person, '2026-03-24')), 'do_not_contact')
})

test('a missed activity stays open and moves to the next workday', () => {
  const session = open(10)
  const due = myActivity(session, ({ status, date }) => status === 'open' && date < TODAY)
  const stated = succeed(session, 'complete_activity', {
    activity: due.activity,
    outcome: 'missed',
    note: 'line was busy',
  })
  assert.equal([stated.status, stated.date], ['open', '2026-03-03'])
  assert.is(refuse(session, complete(due)), 'not_due_yet')
  const [friday, saturday, monday] = ['2026-03-06', '2026-03-07', '2026-03-09']
  assert.is(workdayAfter(friday), monday)
  assert.is(workdayUpTo(saturday), friday)
  assert.not.ok(isWorkday(saturday))
})

test('merging moves deals and activities to the contact that stays, and a wish not to be contacted survives', () => {
  let refused = 0
  for (let seed = 1; seed <= 12; seed++) {
    const session = open(seed)
    const [from, into] = twins(session)
    const moved = view(session).deals.by('crm_contact', from.crm_contact).length
    const kept = view(session).deals.by('crm_contact', into.crm_contact).length
    const stated = succeed(session, 'merge_crm_contacts', {
      from_contact: from.crm_contact,
      into_contact: into.crm_contact,
    })
    assert.is(stated.deals, moved)
    assert.is(view(session).deals.by('crm_contact', into.crm_contact).length, kept + moved)
    assert.is(stated.may_contact, !(from.do_not_contact || into.do_not_contact))
    if (!stated.may_contact) refused++
    const found = succeed(session, 'find_crm_contacts', { query: from.name }).contacts as { crm_contact: string }[]
    assert.not.ok(found.some((row) => row.crm_contact === from.crm_contact))
  }
  assert.ok(refused > 0, 'no twin refuses')
})

test('searches take words in any case and order and usually find one company, or one person once or twice', () => {
  let alone = 0
  let all = 0
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    for (const { name, company: key } of view(session).companies.list()) {
      const backwards = name.toUpperCase().split(' ').reverse().join(' ')
      const stated = succeed(session, 'find_companies', { query: backwards })
      const rows = stated.companies as { company: string }[]
      assert.ok(rows.some((row) => row.company === key))
      if (stated.found === 1) alone++
      all++
    }
    for (const { name } of view(session).contacts.list())
      assert.ok((succeed(session, 'find_crm_contacts', { query: name }).found as number) >= 1)
  }
  assert.ok(alone >= 0.9 * all, `${alone} of ${all}`)
})

test('every city belongs to a territory, and leads elsewhere are neither shown nor yours to work on', () => {
  for (const territory of ['north', 'south', 'central', 'overseas'])
    assert.ok(CITIES.filter(({ city }) => territoryOf(city) === territory).length >= 5, territory)
  const session = open(11)
  const far = lead(session, (row) => row.rep === null && !near(session)(row))
  assert.is(refuse(session, advance(far, 'contacted')), 'outside_territory')
  assert.equal(succeed(session, 'find_leads', { status: 'new', city: far.city }), { found: 0, leads: [] })
})

test('a new contact with the name of another gets a key of its own', () => {
  assert.is(
    freeKey((key) => ['ana-lima', 'ana-lima-2'].includes(key), 'Ana Lima'),
    'ana-lima-3',
  )
  const session = open(12)
  const { name, company: at } = willing(session)
  const stated = succeed(session, 'add_crm_contact', { company: at, name, email: 'another@example.com' })
  assert.match(stated.crm_contact as string, /-\d$/)
})

test.run()

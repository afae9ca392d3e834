import type { Invariant } from '../kernel/define-environment.js'
import { openLeads } from './lead-rules.js'
import { isOpen, LIMITS, netValue, pipelineValue, territoryOf } from './rules.js'
import { type CrmTables, type CrmView, type Deal, LEAD_STATUSES, type Lead } from './schema.js'

type CrmInvariant = Invariant<CrmTables>

const referencesResolve: CrmInvariant = {
  name: 'every company, contact, rep and deal that is referred to exists',
  check(now) {
    return (
      now.companies.find(({ rep }) => !now.reps.has(rep))?.company ??
      now.contacts.find(({ company }) => !now.companies.has(company))?.crm_contact ??
      now.leads.find(({ rep, deal }) => (rep !== null && !now.reps.has(rep)) || (deal !== null && !now.deals.has(deal)))
        ?.lead ??
      now.deals.find(({ rep }) => !now.reps.has(rep))?.deal ??
      now.activities.find(({ rep, crm_contact }) => !now.reps.has(rep) || !now.contacts.has(crm_contact))?.activity
    )
  },
}

const dealsBelongTogether: CrmInvariant = {
  name: 'the contact of a deal works for its company, and an open deal belongs to the rep who owns the company',
  check(now) {
    const lost = now.deals.find(
      (deal) =>
        now.contacts.get(deal.crm_contact)?.company !== deal.company ||
        (isOpen(deal) && now.companies.get(deal.company)?.rep !== deal.rep),
    )
    return lost?.deal
  },
}

const pipelinesAgree: CrmInvariant = {
  name: "every rep's pipeline is the value of the rep's open deals",
  check(now) {
    for (const { rep, pipeline } of now.reps.list()) {
      const sum = now.deals.by('rep', rep).reduce<number>((total, deal) => total + pipelineValue(deal), 0)
      if (sum !== pipeline) return `${rep} has ${pipeline} instead of ${sum}`
    }
    return undefined
  },
}

const quotasAgree: CrmInvariant = {
  name: 'what a rep has won has grown by exactly the value of the deals won since',
  check(now, seed) {
    const won = (db: CrmView, rep: string) =>
      db.deals.by('rep', rep).reduce<number>((sum, deal) => sum + (deal.stage === 'won' ? netValue(deal) : 0), 0)
    const wrong = now.reps.find(
      ({ rep, won: claimed }) => claimed - seed.reps.get(rep)!.won !== won(now, rep) - won(seed, rep),
    )
    return wrong && `${wrong.rep} claims ${wrong.won}`
  },
}

const closedDealsRest: CrmInvariant = {
  name: 'a won or lost deal has its day, waits for nothing, and stays as it was but for merged contacts',
  check(now, seed) {
    const changed = (before: Deal, after: Deal) =>
      before.stage !== after.stage || netValue(before) !== netValue(after) || before.rep !== after.rep
    const wrong = now.deals.find((deal) => {
      const before = seed.deals.get(deal.deal)
      if (isOpen(deal)) return deal.closed_on !== null || (before !== undefined && !isOpen(before))
      return (
        deal.closed_on === null ||
        deal.request !== null ||
        (before !== undefined && !isOpen(before) && changed(before, deal))
      )
    })
    return wrong?.deal
  },
}

const mergedContactsAreGone: CrmInvariant = {
  name: 'nothing refers to a contact that was merged into another, which exists and has the same company',
  check(now) {
    for (const { crm_contact, company, merged_into } of now.contacts.list()) {
      if (merged_into === null) continue
      if (now.contacts.get(merged_into)?.company !== company) return `${crm_contact} became ${merged_into}`
      if (now.deals.by('crm_contact', crm_contact).length + now.activities.by('crm_contact', crm_contact).length > 0)
        return `${crm_contact} is still in use`
    }
    return undefined
  },
}

const discountsAreAllowed: CrmInvariant = {
  name: 'no discount is above the highest of all, none above what a rep gives alone is in force unapproved, and negotiations have a close date',
  check(now) {
    const wrong = now.deals.find(
      ({ discount, approved, request, stage, close_date }) =>
        discount > LIMITS.discountMost ||
        (discount > LIMITS.discountAlone && !approved) ||
        (stage === 'discovery' && (discount > 0 || request !== null)) ||
        (stage === 'negotiation' && close_date === null),
    )
    return wrong && `${wrong.deal}: ${wrong.discount} percent in ${wrong.stage}`
  },
}

const requestsAgree: CrmInvariant = {
  name: 'a deal names exactly its open discount request, if it has one, which asks for more than a rep gives alone',
  check(now) {
    const wrong = now.discount_requests.find(
      ({ discount_request, deal, status, percent }) =>
        percent <= LIMITS.discountAlone ||
        percent > LIMITS.discountMost ||
        (status === 'open') !== (now.deals.get(deal)?.request === discount_request),
    )
    if (wrong) return wrong.discount_request
    return now.deals.find(({ deal, request }) => request !== null && now.discount_requests.get(request)?.deal !== deal)
      ?.deal
  },
}

const leadsMoveForward: CrmInvariant = {
  name: 'leads only move forward, and exactly the converted ones have a deal',
  check(now, seed) {
    const rank = (status: Lead['status']) => LEAD_STATUSES.indexOf(status)
    const wrong = now.leads.find((lead) => {
      const before = seed.leads.get(lead.lead)!
      return (
        rank(lead.status) < rank(before.status) ||
        (before.status === 'converted' && lead.status !== 'converted') ||
        (lead.status === 'converted') !== (lead.deal !== null) ||
        (lead.status === 'qualified' && (lead.budget ?? 0) < LIMITS.budget)
      )
    })
    return wrong?.lead
  },
}

const refusalsHold: CrmInvariant = {
  name: 'who does not want to be contacted stays so and has no open activity',
  check(now, seed) {
    const freed = now.contacts.find(
      ({ crm_contact, do_not_contact }) => seed.contacts.get(crm_contact)?.do_not_contact === true && !do_not_contact,
    )
    const bothered = now.activities.find(
      ({ status, crm_contact }) => status === 'open' && now.contacts.get(crm_contact)?.do_not_contact === true,
    )
    return freed?.crm_contact ?? bothered?.activity
  },
}

const quotasHold: CrmInvariant = {
  name: 'no rep has more companies, deals in negotiation or (the user) open leads than a rep may have',
  check(now) {
    for (const { rep, is_me } of now.reps.list()) {
      if (now.companies.by('rep', rep).length > LIMITS.companies) return `companies of ${rep}`
      const deals = now.deals.by('rep', rep).filter(({ stage }) => stage === 'negotiation')
      if (deals.length > LIMITS.negotiations) return `negotiations of ${rep}`
      if (is_me && openLeads(now, rep) > LIMITS.openLeads) return `leads of ${rep}`
    }
    return undefined
  },
}

const territoriesHold: CrmInvariant = {
  name: 'every company belongs to a rep of its territory, and addresses of mail are held once',
  check(now) {
    const lost = now.companies.find(({ city, rep }) => now.reps.get(rep)?.territory !== territoryOf(city))
    const emails = new Set<string>()
    const twin = now.contacts.find(({ email }) => emails.size === emails.add(email).size)
    return lost?.company ?? twin?.email
  },
}

export const crmInvariants = [
  referencesResolve,
  dealsBelongTogether,
  pipelinesAgree,
  quotasAgree,
  closedDealsRest,
  discountsAreAllowed,
  requestsAgree,
  leadsMoveForward,
  refusalsHold,
  mergedContactsAreGone,
  quotasHold,
  territoriesHold,
]

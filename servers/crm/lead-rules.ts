import { inMyTerritory, isMine, LIMITS, me } from './rules.js'
import type { Company, CrmContact, CrmView, Lead, Obstacle } from './schema.js'

/** The steps a lead may take by hand; `convert_lead` takes the last one. */
export const NEXT_LEAD_STATUSES: Readonly<Record<Lead['status'], readonly Lead['status'][]>> = {
  new: ['contacted', 'lost'],
  contacted: ['qualified', 'lost'],
  qualified: ['lost'],
  converted: [],
  lost: [],
}

/**
 * Returns the obstacle to working on a lead at all, or undefined if the user may work on the lead. The lead must be the
 * user's own lead or an unassigned lead in the user's territory.
 */
export function leadObstacle(db: CrmView, lead: Lead): Obstacle | undefined {
  if (lead.rep === null && !inMyTerritory(db, lead))
    return { code: 'outside_territory', detail: `${lead.city} is not in your territory.` }
  if (lead.rep !== null && !isMine(db, lead))
    return { code: 'not_your_lead', detail: `${lead.name} is a lead of ${lead.rep}.` }
  return lead.status === 'converted' || lead.status === 'lost'
    ? { code: 'lead_closed', detail: `${lead.name} is ${lead.status}.` }
    : undefined
}

/** Returns the obstacle to moving a lead to `status`, or undefined if the user may move the lead. */
export function stepObstacle(
  db: CrmView,
  lead: Lead,
  status: Lead['status'],
  budget: number | null,
): Obstacle | undefined {
  const obstacle = leadObstacle(db, lead)
  if (obstacle) return obstacle
  if (!NEXT_LEAD_STATUSES[lead.status].includes(status))
    return {
      code: 'lead_step_not_allowed',
      detail: `${lead.name} is ${lead.status} and can become ${NEXT_LEAD_STATUSES[lead.status].join(' or ')}.`,
    }
  if (status === 'contacted') {
    if (contactWithEmail(db, lead.email)?.do_not_contact) return { code: 'do_not_contact' }
    if (lead.rep === null && openLeads(db, me(db).rep) >= LIMITS.openLeads)
      return { code: 'too_many_leads', detail: `You have ${LIMITS.openLeads} open leads.` }
  }
  if (status === 'qualified') {
    if (budget === null) return { code: 'budget_required' }
    if (budget < LIMITS.budget) return { code: 'budget_too_small', detail: `At least ${LIMITS.budget} is needed.` }
  }
  return undefined
}

export const openLeads = (db: CrmView, rep: string): number =>
  db.leads
    .by('rep', rep)
    .reduce((count, { status }) => count + (status === 'converted' || status === 'lost' ? 0 : 1), 0)

/** The company that a lead's firm is, if the system has it. */
export const companyOfLead = (db: CrmView, { firm, city }: Lead): Company | undefined =>
  db.companies.by('name', firm).find((row) => row.city === city)

/** The contact that has, or was merged with one that has, the email address. */
export function contactWithEmail(db: CrmView, email: string): CrmContact | undefined {
  let contact = db.contacts.by('email', email)[0]
  while (contact !== undefined && contact.merged_into !== null) contact = db.contacts.get(contact.merged_into)
  return contact
}

/** Returns the obstacle to converting a lead, or undefined if the user may convert the lead. */
export function conversionObstacle(db: CrmView, lead: Lead): Obstacle | undefined {
  const obstacle = leadObstacle(db, lead)
  if (obstacle) return obstacle
  if (lead.status !== 'qualified') return { code: 'lead_not_qualified', detail: `${lead.name} is ${lead.status}.` }
  const company = companyOfLead(db, lead)
  if (company && !isMine(db, company))
    return { code: 'not_your_company', detail: `${company.name} belongs to ${company.rep}.` }
  if (!company && db.companies.by('rep', me(db).rep).length >= LIMITS.companies) return { code: 'rep_full' }
  const known = contactWithEmail(db, lead.email)
  if (known?.do_not_contact) return { code: 'do_not_contact' }
  return known && known.company !== company?.company
    ? { code: 'email_taken', detail: `${known.crm_contact} of ${known.company} has the lead's email address.` }
    : undefined
}

import { addDays, isWorkday } from '../kernel/dates.js'
import { CITIES } from '../kernel/gazetteer.js'
import { slug } from '../kernel/text.js'
import type {
  Activity,
  Company,
  CrmContact,
  CrmView,
  Deal,
  DiscountRequest,
  Obstacle,
  Rep,
  Territory,
} from './schema.js'

/** The rules of the sales team: name, value, unit. */
export const LIMITS = {
  /** Companies per rep. */
  companies: 12,
  /** Contacted and qualified leads per rep. */
  openLeads: 9,
  /** Deals in negotiation per rep. */
  negotiations: 5,
  /** Activities that one rep plans for a day. */
  activitiesPerDay: 4,
  /** Least budget of a qualified lead. Currency units. */
  budget: 1000,
  /** Discount that a rep gives alone, and the highest of all. Percent. */
  discountAlone: 15,
  discountMost: 30,
  /** Days within which somebody of the company was reached when a deal is won. */
  reachedDays: 30,
  /** How far ahead a deal may close and an activity may be planned. Days. */
  closingDays: 365,
  planningDays: 180,
} as const

const BY_COUNTRY: Readonly<Record<string, Territory>> = {
  Denmark: 'north',
  Finland: 'north',
  Ireland: 'north',
  Norway: 'north',
  Sweden: 'north',
  'United Kingdom': 'north',
  Greece: 'south',
  Italy: 'south',
  Portugal: 'south',
  Spain: 'south',
  Canada: 'overseas',
  'United States': 'overseas',
}

const BY_CITY: ReadonlyMap<string, Territory> = new Map(
  CITIES.map(({ city, country }) => [city, BY_COUNTRY[country] ?? 'central']),
)
const SPELLINGS: ReadonlyMap<string, string> = new Map(CITIES.map(({ city }) => [city.toLowerCase(), city]))

/** The territory of a city of the gazetteer: south is southern Europe, overseas North America, and so on. */
export const territoryOf = (city: string): Territory => BY_CITY.get(city) ?? 'central'

/** Returns a city's name as the gazetteer spells it, regardless of capitals. Returns an unknown name unchanged. */
export const cityNamed = (name: string): string => SPELLINGS.get(name.toLowerCase()) ?? name

/** The user. */
export const me = (db: CrmView): Rep => db.reps.by('is_me', true)[0]!

export const isMine = (db: CrmView, { rep }: { readonly rep: string | null }): boolean => rep === me(db).rep

export const inMyTerritory = (db: CrmView, { city }: { readonly city: string }): boolean =>
  territoryOf(city) === me(db).territory

export const isOpen = ({ stage }: Pick<Deal, 'stage'>): boolean => stage !== 'won' && stage !== 'lost'

/** Returns the value of a deal after its discount, rounded up. */
export const netValue = ({ amount, discount }: Pick<Deal, 'amount' | 'discount'>): number =>
  amount - Math.floor((amount * discount) / 100)

/** Returns the amount that a deal adds to its rep's pipeline. */
export const pipelineValue = (deal: Deal): number => (isOpen(deal) ? netValue(deal) : 0)

const negotiations = (db: CrmView, rep: string): number =>
  db.deals.by('rep', rep).reduce((count, { stage }) => count + (stage === 'negotiation' ? 1 : 0), 0)

/** The steps a deal may take; won and lost are final. */
export const NEXT_STAGES: Readonly<Record<Deal['stage'], readonly Deal['stage'][]>> = {
  discovery: ['proposal', 'lost'],
  proposal: ['negotiation', 'discovery', 'lost'],
  negotiation: ['won', 'proposal', 'lost'],
  won: [],
  lost: [],
}

/** Returns the obstacle to moving the user's own deal to `stage` with the given close date, or undefined if the move is allowed. */
export function moveObstacle(
  db: CrmView,
  today: string,
  deal: Deal,
  stage: Deal['stage'],
  closeDate: string | null,
): Obstacle | undefined {
  if (!isMine(db, deal)) return { code: 'not_your_deal', detail: `${deal.title} belongs to ${deal.rep}.` }
  if (!isOpen(deal)) return { code: 'deal_closed', detail: `${deal.title} is ${deal.stage}.` }
  if (!NEXT_STAGES[deal.stage].includes(stage))
    return {
      code: 'stage_not_allowed',
      detail: `From ${deal.stage} it can move to ${NEXT_STAGES[deal.stage].join(', ')}.`,
    }
  if (stage === 'proposal' && db.contacts.get(deal.crm_contact)!.do_not_contact) return { code: 'do_not_contact' }
  if (stage === 'negotiation') return negotiationObstacle(db, deal.rep, closeDate)
  return stage === 'won' ? winObstacle(db, today, deal) : undefined
}

function negotiationObstacle(db: CrmView, rep: string, closeDate: string | null): Obstacle | undefined {
  if (closeDate === null) return { code: 'close_date_required' }
  return negotiations(db, rep) >= LIMITS.negotiations
    ? { code: 'negotiation_full', detail: `${LIMITS.negotiations} deals are in negotiation.` }
    : undefined
}

function winObstacle(db: CrmView, today: string, deal: Deal): Obstacle | undefined {
  if (deal.request !== null)
    return { code: 'approval_pending', detail: `The discount request ${deal.request} is open.` }
  const { last_reached } = db.companies.get(deal.company)!
  if (last_reached === null || last_reached < addDays(today, -LIMITS.reachedDays))
    return {
      code: 'no_recent_contact',
      detail: `Somebody of the company must have been reached within ${LIMITS.reachedDays} days.`,
    }
  return undefined
}

/** Returns the obstacle to discounting the user's own deal by `percent`, or undefined if the discount is allowed. */
export function discountObstacle(db: CrmView, deal: Deal, percent: number): Obstacle | undefined {
  if (!isMine(db, deal)) return { code: 'not_your_deal', detail: `${deal.title} belongs to ${deal.rep}.` }
  if (!isOpen(deal)) return { code: 'deal_closed', detail: `${deal.title} is ${deal.stage}.` }
  if (deal.stage === 'discovery') return { code: 'not_discountable' }
  if (percent > LIMITS.discountMost)
    return { code: 'discount_too_high', detail: `No discount is above ${LIMITS.discountMost} percent.` }
  return undefined
}

/** Returns the obstacle to approving a discount request, or undefined if the user may approve the request. */
export function approvalObstacle(db: CrmView, { deal: key, status }: DiscountRequest): Obstacle | undefined {
  if (status !== 'open') return { code: 'request_closed', detail: `The request is ${status}.` }
  const deal = db.deals.get(key)!
  if (isMine(db, deal)) return { code: 'own_discount' }
  return inMyTerritory(db, db.companies.get(deal.company)!) ? undefined : { code: 'outside_territory' }
}

/** Returns the obstacle to giving a company and its open deals to `rep`, or undefined if the company can be handed over. */
export function handOverObstacle(db: CrmView, company: Company, rep: Rep): Obstacle | undefined {
  if (!inMyTerritory(db, company))
    return { code: 'outside_territory', detail: `${company.city} is not in your territory.` }
  if (rep.territory !== territoryOf(company.city))
    return { code: 'rep_elsewhere', detail: `${rep.name} works in the territory ${rep.territory}.` }
  if (rep.rep === company.rep) return { code: 'already_owner' }
  if (db.companies.by('rep', rep.rep).length >= LIMITS.companies)
    return { code: 'rep_full', detail: `${rep.name} owns ${LIMITS.companies} companies.` }
  const deals = db.deals.by('company', company.company)
  if (deals.some(({ request }) => request !== null)) return { code: 'approval_pending' }
  const moving = deals.reduce((count, { stage }) => count + (stage === 'negotiation' ? 1 : 0), 0)
  return moving > 0 && negotiations(db, rep.rep) + moving > LIMITS.negotiations
    ? { code: 'negotiation_full' }
    : undefined
}

/** Returns the obstacle to merging two contacts, or undefined if the user may merge the contacts. */
export function mergeObstacle(db: CrmView, from: CrmContact, into: CrmContact): Obstacle | undefined {
  if (from.crm_contact === into.crm_contact) return { code: 'same_contact' }
  if (from.company !== into.company || from.name.toLowerCase() !== into.name.toLowerCase())
    return {
      code: 'not_duplicates',
      detail: `${from.name} of ${from.company} and ${into.name} of ${into.company} are two people.`,
    }
  return inMyTerritory(db, db.companies.get(into.company)!) ? undefined : { code: 'outside_territory' }
}

/** Returns the obstacle to choosing `date`, or undefined if the date is at most `days` days after `today` and not in the past. */
export function dateObstacle(today: string, date: string, days: number): Obstacle | undefined {
  if (date < today) return { code: 'date_in_past', detail: `Today is ${today}.` }
  const last = addDays(today, days)
  return date > last ? { code: 'date_too_far', detail: `The last day is ${last}.` } : undefined
}

/** Returns the obstacle to planning an activity, or undefined if the activity can be planned. */
export function planObstacle(
  db: CrmView,
  today: string,
  contact: CrmContact,
  kind: Activity['kind'],
  date: string,
): Obstacle | undefined {
  const company = db.companies.get(contact.company)!
  if (!isMine(db, company)) return { code: 'not_your_company', detail: `${company.name} belongs to ${company.rep}.` }
  if (contact.do_not_contact)
    return { code: 'do_not_contact', detail: `${contact.name} does not want to be contacted.` }
  const undatable = dateObstacle(today, date, LIMITS.planningDays)
  if (undatable) return undatable
  if (!isWorkday(date)) return { code: 'not_a_workday', detail: `${date} is a Saturday or Sunday.` }
  const open = db.activities.by('date', date).filter((row) => row.status === 'open' && isMine(db, row))
  if (open.some((row) => row.crm_contact === contact.crm_contact && row.kind === kind))
    return { code: 'activity_exists', detail: `${titleOf(kind, contact.name)} is planned for ${date} already.` }
  return open.length >= LIMITS.activitiesPerDay
    ? { code: 'day_full', detail: `${LIMITS.activitiesPerDay} activities are planned for ${date}.` }
    : undefined
}

/** Returns the obstacle to recording how an activity went, or undefined if the result can be recorded. */
export function completionObstacle(db: CrmView, today: string, activity: Activity): Obstacle | undefined {
  if (!isMine(db, activity)) return { code: 'not_your_activity', detail: `It is an activity of ${activity.rep}.` }
  if (activity.status !== 'open') return { code: 'activity_closed', detail: `It is ${activity.status}.` }
  return activity.date > today ? { code: 'not_due_yet', detail: `It is due on ${activity.date}.` } : undefined
}

/** Returns the text that a search for a contact looks into, in lower case. */
export const contactText = (name: string, email: string, company: string): string =>
  `${name} ${email} ${company}`.toLowerCase()

/** `slug(name)`, or with the first number from 2 that makes it new. */
export function freeKey(isTaken: (key: string) => boolean, name: string): string {
  const base = slug(name)
  if (!isTaken(base)) return base
  let number = 2
  while (isTaken(`${base}-${number}`)) number++
  return `${base}-${number}`
}

/** Returns the title of an activity, such as `Call with Ana Lima`. */
export const titleOf = (kind: Activity['kind'], name: string): string =>
  `${kind[0]!.toUpperCase()}${kind.slice(1)} with ${name}`

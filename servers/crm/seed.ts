import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { addressIn, CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { contactText, freeKey, pipelineValue, territoryOf } from './rules.js'
import {
  type Company,
  type CrmContact,
  type CrmTables,
  type Deal,
  type Rep,
  TERRITORIES,
  type Territory,
} from './schema.js'
import { seedActivities } from './seed-activities.js'
import { seedDeals } from './seed-deals.js'
import { seedLeads } from './seed-leads.js'
import { COMPANY_HEADS, COMPANY_TAILS, FIRST_NAMES, LAST_NAMES } from './words.js'

const REPS_PER_TERRITORY = 3
/** Of the user, of the colleagues in the user's territory (one of whom has as many as a rep may), and of everyone else. */
const COMPANIES = { mine: 9, colleagues: [12, 5], others: 2 } as const

/** A sales team in the first quarter: twelve reps in four territories, their companies, contacts, leads, deals and activities. */
export function seedCrm({ random, start }: SeedContext): SeedRows<CrmTables> {
  const today = start.slice(0, 10)
  const names = new NameSource(random)
  const reps = seedReps(random, names)
  const companies = seedCompanies(random, today, reps)
  const contacts = seedContacts(random, names, companies, reps)
  const leads = seedLeads(random, { reps, companies, contacts, newName: () => names.next() })
  const { deals, requests } = seedDeals(random, today, { reps, companies, contacts })
  return {
    reps: reps.map((rep) => ({ ...rep, ...standing(random, rep, deals) })),
    companies,
    contacts,
    leads: leads.map((lead) => (lead.status === 'converted' ? { ...lead, deal: dealOf(lead.rep, deals) } : lead)),
    deals,
    discount_requests: requests,
    activities: seedActivities(random, today, { reps, companies, contacts }),
  }
}

/** A won deal of the rep: what one of the rep's converted leads became. */
const dealOf = (rep: string | null, deals: readonly Deal[]): string =>
  deals.find((deal) => deal.rep === rep && deal.stage === 'won')!.deal

/** Full names that occur once, many sharing a first or last name. */
class NameSource {
  readonly #random: SeededRandom
  readonly #used = new Set<string>()
  readonly #firsts: readonly string[]
  readonly #lasts: readonly string[]

  constructor(random: SeededRandom) {
    this.#random = random
    this.#firsts = random.sample(FIRST_NAMES, 44)
    this.#lasts = random.sample(LAST_NAMES, 40)
  }

  next(): string {
    for (;;) {
      const name = `${this.#random.pick(this.#firsts)} ${this.#random.pick(this.#lasts)}`
      if (this.#used.has(name)) continue
      this.#used.add(name)
      return name
    }
  }
}

function seedReps(random: SeededRandom, names: NameSource): Rep[] {
  const home = random.pick(TERRITORIES)
  return TERRITORIES.flatMap((territory) =>
    Array.from({ length: REPS_PER_TERRITORY }, (_, place): Rep => {
      const name = names.next()
      return {
        rep: slug(name),
        name,
        territory,
        quota: 10_000 * random.int(15, 40),
        won: 0,
        pipeline: 0,
        is_me: territory === home && place === 0,
      }
    }),
  )
}

/** What the rep has won and what is open, by the rep's deals and, for what is won, some older ones. */
function standing(random: SeededRandom, { rep }: Rep, deals: readonly Deal[]): Pick<Rep, 'won' | 'pipeline'> {
  const own = deals.filter((deal) => deal.rep === rep)
  return {
    won: own.reduce((sum, deal) => sum + (deal.stage === 'won' ? deal.amount : 0), 1000 * random.int(5, 90)),
    pipeline: own.reduce((sum, deal) => sum + pipelineValue(deal), 0),
  }
}

function seedCompanies(random: SeededRandom, today: string, reps: readonly Rep[]): Company[] {
  const user = reps.find(({ is_me }) => is_me)!
  const colleagues = reps.filter((rep) => rep.territory === user.territory && rep !== user)
  const owners = reps.flatMap((rep) => {
    const place = colleagues.indexOf(rep)
    const count = rep === user ? COMPANIES.mine : (COMPANIES.colleagues[place] ?? COMPANIES.others)
    return Array<Rep>(count).fill(rep)
  })
  const names = companyNames(random, owners.length)
  const keys = new Set<string>()
  return owners.map(({ rep, territory }, i) => {
    const name = names[i]!
    const city = random.pick(CITIES_OF[territory])
    const company = freeKey((key) => keys.has(key), keys.has(slug(name)) ? `${name} ${city}` : name)
    keys.add(company)
    return {
      company,
      name,
      address: addressIn(random, city),
      city,
      rep,
      last_reached: random.chance(0.2) ? null : addDays(today, -random.int(1, i % 2 === 0 ? 25 : 90)),
      text: `${name} ${city}`.toLowerCase(),
    }
  })
}

const citiesOf = (territory: Territory): string[] =>
  CITIES.flatMap(({ city }) => (territoryOf(city) === territory ? [city] : []))

const CITIES_OF: Readonly<Record<Territory, readonly string[]>> = {
  north: citiesOf('north'),
  south: citiesOf('south'),
  central: citiesOf('central'),
  overseas: citiesOf('overseas'),
}

/** Two companies for each first word, so that every name has a near-miss, and one name that two companies have. */
function companyNames(random: SeededRandom, count: number): string[] {
  const heads = random.sample(COMPANY_HEADS, Math.ceil(count / 2))
  const names = heads.flatMap((head) => random.sample(COMPANY_TAILS, 2).map((tail) => `${head} ${tail}`))
  const mixed = random.shuffle(names).slice(0, count)
  mixed[count - 1] = mixed[0]!
  return mixed
}

/** Two or three people per company. Some are in the system twice, some do not want to be contacted. */
function seedContacts(
  random: SeededRandom,
  names: NameSource,
  companies: readonly Company[],
  reps: readonly Rep[],
): CrmContact[] {
  const keys = new Set<string>()
  const territory = reps.find(({ is_me }) => is_me)!.territory
  const add = (name: string, company: Company, initials: boolean, refuses: boolean): CrmContact => {
    const [first, last] = name.toLowerCase().split(' ') as [string, string]
    const email = `${initials ? `${first[0]}${last}` : `${first}.${last}`}@${company.company}.com`
    const crm_contact = freeKey((key) => keys.has(key), name)
    keys.add(crm_contact)
    const text = contactText(name, email, company.name)
    return { crm_contact, name, email, company: company.company, do_not_contact: refuses, merged_into: null, text }
  }
  return companies.flatMap((company, i) => {
    const near = territoryOf(company.city) === territory
    return Array.from({ length: near ? random.int(2, 3) : random.int(1, 2) }, (_, _place) => names.next()).flatMap(
      (name, place) => {
        const refuses = place === 1 && random.chance(0.25)
        const once = add(name, company, false, refuses)
        const twice = place === 0 && (near ? i % 3 === 0 : random.chance(0.1))
        return twice ? [once, add(name, company, true, random.chance(0.3))] : [once]
      },
    )
  })
}

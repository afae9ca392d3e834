import { addDays } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { LIMITS } from './rules.js'
import { sampleBudget } from './sampling.js'
import type { Company, CrmContact, Deal, DiscountRequest, Rep } from './schema.js'
import { PRODUCTS } from './words.js'

interface Known {
  readonly reps: readonly Rep[]
  readonly companies: readonly Company[]
  readonly contacts: readonly CrmContact[]
}

/** A negotiation with an open discount request is planned as `pending`. */
type Plan = Deal['stage'] | 'pending'

const MINE: readonly Plan[] = [
  ...(['discovery', 'discovery', 'discovery', 'proposal', 'proposal', 'proposal'] as const),
  ...(['negotiation', 'negotiation', 'negotiation', 'pending', 'won', 'won', 'lost'] as const),
]
const COLLEAGUE: readonly Plan[] = ['discovery', 'proposal', 'negotiation', 'pending', 'pending', 'won']
const OTHER: readonly Plan[] = ['proposal', 'negotiation', 'won']

/** Deals of the user in every stage, of the colleagues in the territory, of whom each has asked for discounts, and of the rest. */
export function seedDeals(
  random: SeededRandom,
  today: string,
  { reps, companies, contacts }: Known,
): { deals: Deal[]; requests: DiscountRequest[] } {
  const user = reps.find(({ is_me }) => is_me)!
  const plans = reps.flatMap((rep): { rep: string; plan: Plan }[] => {
    const own = rep === user ? MINE : rep.territory === user.territory ? COLLEAGUE : OTHER
    return own.map((plan) => ({ rep: rep.rep, plan }))
  })
  const numbers = twoDigitNumbers(random, plans.length)
  const titles = new Set<string>()
  const deals = plans.map(({ rep, plan }, i): Deal => {
    const own = companies.filter((row) => row.rep === rep)
    const { company, title } = untitled(random, own, titles)
    const people = contacts.filter((row) => row.company === company)
    return {
      deal: `deal-${numbers[i]}`,
      title,
      company,
      crm_contact: random.pick(people).crm_contact,
      rep,
      amount: sampleBudget(random),
      ...terms(random, today, plan),
      request: plan === 'pending' ? `request-${numbers[i]}` : null,
    }
  })
  const requests = deals.flatMap(({ deal, title, request }): DiscountRequest[] => {
    const percent = random.int(LIMITS.discountAlone + 1, LIMITS.discountMost)
    return request === null ? [] : [{ discount_request: request, title, deal, percent, status: 'open' }]
  })
  return { deals: random.shuffle(deals), requests }
}

function untitled(
  random: SeededRandom,
  companies: readonly Company[],
  titles: Set<string>,
): { company: string; title: string } {
  for (;;) {
    const { company, name } = random.pick(companies)
    const title = `${name} ${random.pick(PRODUCTS)}`
    if (titles.has(title)) continue
    titles.add(title)
    return { company, title }
  }
}

function terms(
  random: SeededRandom,
  today: string,
  plan: Plan,
): Pick<Deal, 'stage' | 'discount' | 'approved' | 'close_date' | 'closed_on'> {
  const stage = plan === 'pending' ? 'negotiation' : plan
  const closed = stage === 'won' || stage === 'lost'
  const dated = stage === 'negotiation' || (stage === 'proposal' && random.chance(0.4))
  return {
    stage,
    // A won deal counts with its full amount, so that what reps have won can be read off.
    discount: stage === 'negotiation' && random.chance(0.4) ? 5 * random.int(1, LIMITS.discountAlone / 5) : 0,
    approved: false,
    close_date: dated ? addDays(today, random.int(5, 60)) : null,
    closed_on: closed ? addDays(today, -random.int(3, 55)) : null,
  }
}

import { addressIn } from '../kernel/gazetteer.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { territoryOf } from './rules.js'
import { sampleBudget } from './sampling.js'
import type { Company, CrmContact, Lead, Rep } from './schema.js'
import { COMPANY_HEADS, COMPANY_TAILS, PRODUCTS } from './words.js'

interface Known {
  readonly reps: readonly Rep[]
  readonly companies: readonly Company[]
  readonly contacts: readonly CrmContact[]
  newName(): string
}

type Origin = Pick<Lead, 'firm' | 'address' | 'city'>

/** What leads an environment has: how many of whom, in which status. */
const MINE = [
  'contacted',
  'contacted',
  'contacted',
  'qualified',
  'qualified',
  'qualified',
  'converted',
  'lost',
] as const
const COLLEAGUES = ['contacted', 'qualified', 'lost'] as const
const FREE_NEAR = 9
const FREE_FAR = 7

/** Creates the leads of the user, the leads of colleagues, and unassigned leads in the user's territory and elsewhere. */
export function seedLeads(random: SeededRandom, known: Known): Lead[] {
  const { reps, companies, contacts, newName } = known
  const user = reps.find(({ is_me }) => is_me)!
  const colleagues = reps.filter(({ rep, territory }) => territory === user.territory && rep !== user.rep)
  const near = companies.filter(({ city }) => territoryOf(city) === user.territory).map(({ city }) => city)
  const far = companies.filter(({ city }) => territoryOf(city) !== user.territory).map(({ city }) => city)
  const taken = new Set(companies.map(({ name }) => name))
  const numbers = twoDigitNumbers(random, MINE.length + colleagues.length * COLLEAGUES.length + FREE_NEAR + FREE_FAR)

  const newFirm = (cities: readonly string[]): Origin => {
    for (;;) {
      const firm = `${random.pick(COMPANY_HEADS)} ${random.pick(COMPANY_TAILS)}`
      if (taken.has(firm)) continue
      taken.add(firm)
      const city = random.pick(cities)
      return { firm, city, address: addressIn(random, city) }
    }
  }
  const firmOf = ({ name, city, address }: Company): Origin => ({ firm: name, city, address })
  const add = (status: Lead['status'], rep: string | null, origin: Origin, person?: CrmContact): Lead => {
    const name = person?.name ?? newName()
    const qualified = status === 'qualified' || status === 'converted'
    return {
      lead: `lead-${numbers.pop()}`,
      name,
      email: person?.email ?? `${slug(name).replace('-', '.')}@${slug(origin.firm)}.com`,
      ...origin,
      interest: random.pick(PRODUCTS),
      status,
      budget: qualified ? sampleBudget(random) : null,
      rep,
      deal: null,
    }
  }

  const own = companies.filter(({ rep }) => rep === user.rep)
  const theirs = companies.filter(({ rep }) => colleagues.some((colleague) => colleague.rep === rep))
  const refusing = contacts.find(
    (contact) =>
      contact.do_not_contact && near.includes(companies.find((row) => row.company === contact.company)!.city),
  )
  const refuser = refusing && companies.find(({ company }) => company === refusing.company)
  return random.shuffle([
    // One qualified lead works for a company of the user, one for a colleague's.
    ...MINE.map((status, i) => {
      const origin = i === 3 ? firmOf(random.pick(own)) : i === 4 ? firmOf(random.pick(theirs)) : newFirm(near)
      return add(status, user.rep, origin)
    }),
    ...colleagues.flatMap(({ rep }) => COLLEAGUES.map((status) => add(status, rep, newFirm(near)))),
    ...Array.from({ length: FREE_NEAR }, (_, i) =>
      // One lead is a contact who does not want to be contacted.
      i === 0 && refusing && refuser ? add('new', null, firmOf(refuser), refusing) : add('new', null, newFirm(near)),
    ),
    ...Array.from({ length: FREE_FAR }, () => add('new', null, newFirm(far))),
  ])
}

import { addDays } from '../kernel/dates.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { titleOf } from './rules.js'
import { ACTIVITY_KINDS, type Activity, type Company, type CrmContact, type Rep } from './schema.js'
import { workdayAfter, workdayUpTo } from './time.js'
import { NOTES } from './words.js'

interface Known {
  readonly reps: readonly Rep[]
  readonly companies: readonly Company[]
  readonly contacts: readonly CrmContact[]
}

/** How many of the user's activities are overdue, due today, on the coming workdays, and done. One day is full. */
const MINE = { overdue: 3, today: 3, ahead: [4, 2, 1, 2, 1], done: 8 } as const

/** The user's activities of some weeks, and a few of the colleagues. */
export function seedActivities(random: SeededRandom, today: string, { reps, companies, contacts }: Known): Activity[] {
  const user = reps.find(({ is_me }) => is_me)!
  const owners = new Map(companies.map(({ company, rep }) => [company, rep]))
  const willing = contacts.filter((row) => !row.do_not_contact)
  const mine = willing.filter(({ company }) => owners.get(company) === user.rep)
  const numbers = twoDigitNumbers(random, 60)
  const used = new Set<string>()

  const add = (contact: CrmContact, date: string, status: Activity['status']): Activity[] => {
    const kind = random.pick(ACTIVITY_KINDS)
    const once = `${contact.crm_contact} ${kind} ${date}`
    if (used.has(once)) return []
    used.add(once)
    return [
      {
        activity: `${kind}-${numbers.pop()}`,
        title: titleOf(kind, contact.name),
        crm_contact: contact.crm_contact,
        rep: owners.get(contact.company)!,
        kind,
        date,
        status,
        note: status === 'done' ? random.pick(NOTES) : '',
      },
    ]
  }
  const before = (days: number): string => workdayUpTo(addDays(today, -days))
  const many = (count: number, of: readonly CrmContact[], date: () => string, status: Activity['status']) =>
    Array.from({ length: count }).flatMap(() => add(random.pick(of), date(), status))

  let day = today
  const ahead = MINE.ahead.flatMap((count) => {
    day = workdayAfter(day)
    const people = random.sample(mine, count)
    return people.flatMap((contact) => add(contact, day, 'open'))
  })
  const theirs = willing.filter(({ company }) => owners.get(company) !== user.rep)
  return [
    ...many(MINE.done, mine, () => before(random.int(3, 40)), 'done'),
    ...many(MINE.overdue, mine, () => before(random.int(1, 9)), 'open'),
    ...many(MINE.today, mine, () => today, 'open'),
    ...ahead,
    ...many(6, theirs, () => workdayAfter(addDays(today, random.int(0, 12))), 'open'),
  ]
}

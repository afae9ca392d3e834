import type { SeededRandom } from '../kernel/random.js'
import { wordList } from '../kernel/text.js'

const lines = (text: string): readonly string[] => text.trim().split(/\s*\n\s*/)

export const FIRST_NAMES = wordList(`
  ana ben carla david elena felix grace hugo iris jonas kira leo maria nina omar paula quinn rosa sam tara ulla victor
  wendy xavier yara zoe adam bella chen diana emil fiona george hana ivan julia karl lina marco nora oscar petra rafael
  sofia tom uma vera will yusuf amy boris clara dario eva frank gina henry ines jack
`)

export const LAST_NAMES = wordList(`
  lima stone walker garcia novak fischer rossi tanaka kim singh patel brown wilson moreau dubois silva costa jansen
  larsen berg weber wagner keller hoffman marin popa ivanov petrov kaya demir haddad mansour okafor mensah cohen levi
  mori sato chen wang nguyen tran reyes cruz ortiz vega molina santos baker cooper mason fisher hunter taylor moore
  clark young king wright
`)

export const SERVICES = lines(`
  Metro Energy
  City Library
  Harbor Bank
  Green Grocer
  Northern Rail
  Bright Mobile
  Sunny Travel
  Park Cinema
  River Insurance
  Corner Books
  Blue Water
  Quick Parcel
`)

export const PLAIN_LABELS = wordList(`
  invoices travel receipts family contracts hiring school health taxes projects events recipes sports garden urgent
  reading
`)

const TOPICS = lines(`
  Budget
  Kitchen
  Summer trip
  Office move
  Website
  Team lunch
  Garden
  School
  Product launch
  Customer survey
  Car repair
  Birthday
  Winter sale
  Book club
  Training
  Roof
  Marketing
  Football
  Concert
  Wedding
  Warehouse
  Museum
  Bike tour
  Security
  Heating
  Annual report
  Apartment
  Dinner
  Hiring
  Photo album
  Boat
  Piano lesson
  Quarterly sales
  Conference
  Solar panel
`)

const MATTERS = wordList(`
  plan invoice review quote agenda tickets update photos question schedule list contract notes booking results feedback
  reminder meeting order proposal draft summary costs dates offer delivery
`)

const OPENINGS = lines(`
  Please check
  I have read
  We still need
  Let us discuss
  Thanks for
  I can bring
  Can you send
  Do not forget
  I really like
  We should change
  I will finish
  Have you seen
  Who has
  I am waiting for
  You can keep
  Please sign
  I lost
  We agreed on
`)

const THINGS = lines(`
  the numbers
  the new plan
  the keys
  the last page
  the invoice
  the photos
  the address
  the final version
  the tickets
  the guest list
  the dates
  your notes
  the price
  the slides
  the contract
  the report
  the old files
  the first draft
`)

const TIMES = ['today', 'this week', 'before Friday', 'next month', 'on Monday', 'tomorrow']

/** What an email can be about: a topic and its matter, such as "Budget" and "review". */
export const SUBJECTS: readonly string[] = TOPICS.flatMap((topic) => MATTERS.map((matter) => `${topic} ${matter}`))

export const subject = (random: SeededRandom): string => random.pick(SUBJECTS)

/** Some words of text for an email, such as "Please check the numbers before Friday". */
export function body(random: SeededRandom): string {
  const start = `${random.pick(OPENINGS)} ${random.pick(THINGS)}`
  return random.chance(0.4) ? `${start} ${random.pick(TIMES)}` : start
}

const FILE_NAMES = wordList(`
  budget-plan sales-report floor-plan price-list guest-list team-photo travel-map tax-form lease-contract menu-card
  train-ticket bank-letter work-plan logo-sketch site-photos lesson-notes repair-quote school-form product-sheet
  survey-results phone-bill recipe-book year-review safety-rules client-notes insurance-card test-results order-form
`)
const FILE_TYPES = ['pdf', 'doc', 'png', 'zip']

/** `count` different file names, such as `budget-plan.pdf`; some differ in their ending only. */
export function fileNames(random: SeededRandom, count: number): string[] {
  const names = new Set<string>()
  while (names.size < count) names.add(`${random.pick(FILE_NAMES)}.${random.pick(FILE_TYPES)}`)
  return [...names]
}

export const titleCase = (words: string): string => words.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** What people say in an out-of-office reply. */
export const ABSENCE_NOTES: readonly string[] = [
  'I am on holiday',
  'Back soon',
  'I am travelling for work',
  'I am at a conference',
  'Please call the office',
  'I read mail once a week',
  'Away with my family',
  'I am on sick leave',
  'On training this week',
  'Moving house',
]

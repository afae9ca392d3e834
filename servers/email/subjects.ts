import { wordList } from '../kernel/text.js'
import type { Contact } from './schema.js'

const lines = (text: string): readonly string[] => text.trim().split(/\s*\n\s*/)

export type Relation = Contact['relation']

/** Subject of an email. In "Budget review", the topic is the budget and the matter is the review. */
export interface Subject {
  /** The subject line without "Re: " and "Fwd: ". */
  readonly line: string
  readonly topic: string
  readonly matter: string
}

/** Topics of one kind, with what people write about them, and who writes so. */
interface Sphere {
  readonly relations: readonly Relation[]
  readonly topics: readonly string[]
  readonly matters: readonly string[]
}

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

const SPHERES: readonly Sphere[] = [
  {
    relations: ['colleague'],
    topics: lines(`
      Website
      Mobile app
      Office move
      Product launch
      Customer survey
      Spring campaign
      Warehouse
      Security audit
      Annual report
      Shop redesign
      Quarterly budget
      Staff handbook
      Data cleanup
    `),
    matters: wordList('plan update draft schedule costs feedback meeting agenda review summary'),
  },
  {
    relations: ['colleague'],
    topics: ['Team lunch', 'Conference', 'Trade fair', 'Open day', 'Sales training', 'Board visit'],
    matters: wordList('plan schedule list booking dates feedback'),
  },
  {
    relations: ['client'],
    topics: [
      'Website',
      'Mobile app',
      'Shop redesign',
      'Customer survey',
      'Spring campaign',
      'Sales training',
      'Company brochure',
    ],
    matters: wordList('offer contract invoice draft order schedule meeting'),
  },
  {
    relations: ['family', 'friend'],
    topics: ['Kitchen', 'Roof', 'Heating', 'Garden fence', 'Apartment', 'Boat', 'Bathroom', 'Car repair', 'Solar roof'],
    matters: wordList('quote invoice costs photos delivery dates plan'),
  },
  {
    relations: ['family', 'friend'],
    topics: ['Concert', 'Museum visit', 'Football match', 'Piano recital', 'School play', 'Boat trip', 'Opera evening'],
    matters: wordList('tickets photos dates booking reminder'),
  },
  {
    relations: ['family', 'friend'],
    topics: [
      'Summer trip',
      'Birthday party',
      'Wedding',
      'Bike tour',
      'Family dinner',
      'Book club',
      'Camping weekend',
      'Street festival',
    ],
    matters: wordList('plan photos dates booking list reminder'),
  },
  { relations: ['service'], topics: SERVICES, matters: wordList('invoice newsletter reminder offer survey') },
]

const subjectsOf = ({ topics, matters }: Sphere): Subject[] =>
  topics.flatMap((topic) => matters.map((matter) => ({ line: `${topic} ${matter}`, topic, matter })))

const BY_LINE: ReadonlyMap<string, Subject> = new Map(
  SPHERES.flatMap(subjectsOf).map((subject) => [subject.line.toLowerCase(), subject]),
)

/** Returns the subjects that people of this relation write about. */
export const subjectsFor = (relation: Relation): readonly Subject[] => FOR_RELATION.get(relation)!
const FOR_RELATION: ReadonlyMap<Relation, readonly Subject[]> = new Map(
  (['colleague', 'client', 'friend', 'family', 'service'] as const).map((relation) => [
    relation,
    SPHERES.filter(({ relations }) => relations.includes(relation)).flatMap(subjectsOf),
  ]),
)

/** Returns the subject of a subject line, or undefined if this environment does not have the line. */
export const subjectOf = (line: string): Subject | undefined =>
  BY_LINE.get(line.replace(/^((re|fwd): )+/i, '').toLowerCase())

/** Returns whether the subject concerns people of this relation. A service writes to people of every relation. */
export const concerns = (subject: Subject, relation: Relation): boolean =>
  SPHERES.some(
    ({ relations, topics, matters }) =>
      (relations.includes(relation) || relations[0] === 'service') &&
      topics.includes(subject.topic) &&
      matters.includes(subject.matter),
  )

/** Which labels fit an email: by what it is about and who it is from. Labels that are not here fit any. */
const FITTING: Readonly<Record<string, (subject: Subject, relation: Relation) => boolean>> = {
  invoices: ({ matter }) => matter === 'invoice',
  travel: ({ topic }) => /trip|tour|conference|boat|camping|rail|travel/i.test(topic),
  receipts: ({ matter }) => ['invoice', 'order', 'booking', 'tickets'].includes(matter),
  family: (_, relation) => relation === 'family',
  friends: (_, relation) => relation === 'friend',
  contracts: ({ matter }) => ['contract', 'offer'].includes(matter),
  meetings: ({ matter }) => ['meeting', 'agenda', 'schedule'].includes(matter),
  photos: ({ matter }) => matter === 'photos',
  home: ({ topic }) => /kitchen|roof|heating|fence|apartment|bathroom|energy|water/i.test(topic),
  projects: ({ topic }, relation) =>
    (relation === 'colleague' || relation === 'client') && !/lunch|day|visit/i.test(topic),
  events: ({ topic }) =>
    /lunch|conference|fair|day|concert|visit|match|recital|play|evening|party|wedding|dinner|festival/i.test(topic),
  customers: (_, relation) => relation === 'client',
  ads: ({ matter }, relation) => relation === 'service' && matter !== 'invoice',
  planning: ({ matter }) => ['plan', 'schedule', 'dates', 'agenda', 'list'].includes(matter),
  bookings: ({ matter }) => ['booking', 'tickets'].includes(matter),
  waiting: ({ matter }) => ['quote', 'order', 'delivery', 'offer', 'feedback'].includes(matter),
  confidential: ({ matter }, relation) =>
    relation === 'colleague'
      ? ['costs', 'review', 'summary', 'draft', 'plan'].includes(matter)
      : relation === 'client' && ['contract', 'offer'].includes(matter),
  'legal-hold': ({ matter }, relation) =>
    (relation === 'client' || relation === 'colleague') && ['contract', 'invoice', 'costs', 'summary'].includes(matter),
}

const GIVEN = ['confidential', 'legal-hold']

/** Labels that a user may have made, in addition to the labels that every mailbox has. */
export const PLAIN_LABELS: readonly string[] = Object.keys(FITTING).filter((label) => !GIVEN.includes(label))

/** Returns whether a user would put this label on an email with this subject and relation. */
export const labelFits = (label: string, subject: Subject | undefined, relation: Relation): boolean => {
  const fits = FITTING[label]
  return fits === undefined || (subject !== undefined && fits(subject, relation))
}

const nameOf = (topic: string): string => topic.toLowerCase().replaceAll(' ', '-')

const FILE_TYPES: Readonly<Record<string, readonly string[]>> = { photos: ['zip', 'png'], tickets: ['pdf', 'png'] }
/** Matters of which there is nothing to send along. */
const WITHOUT_FILES = wordList('update meeting delivery reminder dates feedback')

const filesOf = ({ topic, matter }: Subject): readonly string[] =>
  WITHOUT_FILES.includes(matter)
    ? []
    : (FILE_TYPES[matter] ?? ['pdf', 'doc']).map((type) => `${nameOf(topic)}-${matter}.${type}`)

/** The files of all subjects: seeds and samples ask for them a million times in a test of this environment. */
const FILES: ReadonlyMap<string, readonly string[]> = new Map(
  [...BY_LINE.values()].map((subject) => [subject.line, filesOf(subject)]),
)

/** Returns names of files that a sender would attach to an email about this subject. */
export const fileNamesOf = ({ line }: Subject): readonly string[] => FILES.get(line)!

/** Whether a file is what the email is about. */
export const fileFits = (file: string, subject: Subject | undefined): boolean =>
  subject !== undefined && fileNamesOf(subject).includes(file)

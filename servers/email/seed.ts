import { addDays, addMinutes } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { ascending } from '../kernel/lists.js'
import type { SeededRandom } from '../kernel/random.js'
import { type Contact, type Draft, type Email, type EmailTables, type Folder, LIMITS } from './schema.js'
import {
  fileFits,
  fileNamesOf,
  labelFits,
  PLAIN_LABELS,
  type Relation,
  SERVICES,
  type Subject,
  subjectsFor,
} from './subjects.js'
import { body, FIRST_NAMES, LAST_NAMES, titleCase } from './words.js'

const PEOPLE = 42
const AUTOMATIC_SERVICES = 5
const THREADS = 48
const OPEN_DRAFTS = 6
const SNOOZED = 6
const FILES = 26
/** Keys made in a session start at 100 or above, so seeded ones stay below. */
const LAST_SEEDED_NUMBER = 99
const MINUTES_PER_DAY = 1440

type File = { readonly file: string; readonly size_mb: number }
type Label = SeedRows<EmailTables>['labels'][number]

/** A message before it has a key: when, in which conversation, which way. */
interface Arrival {
  readonly at: string
  readonly thread: number
  readonly direction: Email['direction']
}

/** A mailbox with two months of mail: the rows a session begins with. */
export function seed({ random, start }: SeedContext): SeedRows<EmailTables> {
  const today = start.slice(0, 10)
  const contacts = seedContacts(random, today)
  const labels = ['confidential', 'legal-hold', 'starred', ...random.sample(PLAIN_LABELS, 8)]
  const talks = seedTalks(random, contacts)
  const files = seedFiles(random, talks)
  const { emails, threads } = seedEmails(random, start, talks, files, labels)
  const drafts = seedDrafts(random, contacts, files)
  const used = [...emails, ...drafts].reduce((sum, { size_mb }) => sum + size_mb, 0)
  return {
    contacts,
    emails,
    threads,
    drafts,
    files,
    labels: labels.map((label): Label => {
      const carriers = emails.filter((email) => email.folder !== 'trash' && email.labels.includes(label))
      const locked = label === 'legal-hold'
      return { label, emails: carriers.length, keeps: locked || label === 'starred', locked }
    }),
    mailbox: [{ owner: 'me', quota_mb: used + random.int(30, 60), used_mb: used, auto_reply: null }],
  }
}

/** Names are drawn from short lists, so that several people share a first or a last name. */
function seedContacts(random: SeededRandom, today: string): Contact[] {
  const first = random.sample(FIRST_NAMES, 28)
  const last = random.sample(LAST_NAMES, 28)
  const keys = new Set<string>()
  while (keys.size < PEOPLE) keys.add(`${random.pick(first)}-${random.pick(last)}`)
  // Every environment has a colleague who can stand in for the owner and one who is away.
  const people = [...keys].map((contact, index): Contact => {
    const drawn = random.pick(['colleague', 'colleague', 'colleague', 'client', 'client', 'friend', 'family'] as const)
    const relation = index < 2 ? 'colleague' : drawn
    const away = index === 1 || (index > 1 && random.chance(0.1))
    return {
      contact,
      name: titleCase(contact.replace('-', ' ')),
      relation,
      active: index < 2 || random.chance(0.93),
      blocked: relation !== 'colleague' && random.chance(0.14),
      away_until: away ? addDays(today, random.int(1, 20)) : null,
    }
  })
  const services = random.sample(SERVICES, AUTOMATIC_SERVICES).map(
    (name): Contact => ({
      contact: name.toLowerCase().replace(' ', '-'),
      name,
      relation: 'service',
      active: true,
      blocked: random.chance(0.1),
      away_until: null,
    }),
  )
  return [...people, ...services]
}

/** With whom a thread is, and what it is about. */
interface Talk {
  readonly partner: Contact
  readonly subject: Subject
}

/** No two threads begin with the same subject; people write about what they have to do with. */
function seedTalks(random: SeededRandom, contacts: readonly Contact[]): Talk[] {
  const left = new Map<Relation, Subject[]>()
  const taken = new Set<string>()
  const talks: Talk[] = []
  while (talks.length < THREADS) {
    const partner = random.pick(contacts)
    const ideas = left.get(partner.relation) ?? random.shuffle(subjectsFor(partner.relation))
    left.set(partner.relation, ideas)
    const fits = ({ topic }: Subject) => partner.relation !== 'service' || topic === partner.name
    const subject = ideas.find((idea) => !taken.has(idea.line) && fits(idea))
    if (subject === undefined) continue
    taken.add(subject.line)
    talks.push({ partner, subject })
  }
  return talks
}

/** Files about what people write of, mostly small; the last two are too large for any email. */
function seedFiles(random: SeededRandom, talks: readonly Talk[]): File[] {
  const writing = talks.filter(({ partner }) => partner.relation !== 'service').map(({ subject }) => subject)
  const subjects = random.shuffle(writing).filter((subject) => fileNamesOf(subject).length > 0)
  const names = new Set(subjects.map((subject) => random.pick(fileNamesOf(subject))))
  return [...names].slice(0, FILES).map((file, index, { length }) => {
    const size = random.chance(0.7) ? random.int(1, 6) : random.int(7, 16)
    return { file, size_mb: index < length - 2 ? size : random.int(LIMITS.attachmentMb + 1, 60) }
  })
}

/** Numbers in ascending order, so that a later row has a higher number. */
const numbers = (random: SeededRandom, count: number): number[] =>
  random
    .sample(
      Array.from({ length: LAST_SEEDED_NUMBER }, (_, i) => i + 1),
      count,
    )
    .sort((a, b) => a - b)

function seedEmails(
  random: SeededRandom,
  start: string,
  talks: readonly Talk[],
  files: readonly File[],
  labels: readonly string[],
): { emails: Email[]; threads: SeedRows<EmailTables>['threads'][number][] } {
  const arrivals = talks
    .flatMap(({ partner }, thread) => conversation(random, start, partner, thread))
    .sort(ascending('at', 'thread'))
    .slice(-(LAST_SEEDED_NUMBER - 5))
  const keys = numbers(random, arrivals.length)
  const threadKeys = new Map<number, string>()
  const threadNumbers = numbers(random, THREADS)
  const members = new Map<string, { subject: string; emails: string[] }>()
  const said = new Map<string, string[]>()
  let snoozed = 0
  const emails = arrivals.map(({ at, thread, direction }, index): Email => {
    if (!threadKeys.has(thread)) threadKeys.set(thread, `thread-${threadNumbers[threadKeys.size]}`)
    const key = threadKeys.get(thread)!
    const { partner, subject } = talks[thread]!
    const title = subject.line
    const group = members.get(key) ?? { subject: title, emails: [] }
    members.set(key, group)
    const email = `mail-${keys[index]}`
    group.emails.push(email)
    const carried = attachments(random, files, subject)
    const before = said.get(key) ?? []
    const text = body(random, subject, before)
    said.set(key, [...before, text])
    const drawn = direction === 'sent' ? sentFolder(random) : receivedFolder(random, partner)
    const place = drawn === 'snoozed' && ++snoozed > SNOOZED ? 'archive' : drawn
    const marks = emailLabels(random, labels, partner, subject, place)
    return {
      email,
      thread: key,
      subject: group.emails.length === 1 ? title : `Re: ${title}`,
      contact: partner.contact,
      direction,
      body: text,
      at,
      files: carried.map(({ file }) => file),
      size_mb: carried.reduce((sum, { size_mb }) => sum + size_mb, 0),
      folder: place,
      labels: marks,
      snoozed_until: place === 'snoozed' ? addDays(start.slice(0, 10), random.int(1, 21)) : null,
      trashed_on: place === 'trash' ? trashDate(random, at, start) : null,
      opened: direction === 'sent' && partner.active && random.chance(0.35),
      recalled: false,
    }
  })
  return { emails, threads: [...members].map(([thread, group]) => ({ thread, ...group })) }
}

/**
 * The messages of one thread. The first threads are fresh, so that a session begins with mail that can still be
 * recalled and with mail of the same morning.
 */
function conversation(random: SeededRandom, start: string, partner: Contact, thread: number): Arrival[] {
  const oneWay = partner.relation === 'service'
  if (thread < 4 && !oneWay) return [{ at: addMinutes(start, -random.int(1, 16)), thread, direction: 'sent' }]
  if (thread < 10) return [{ at: addMinutes(start, -random.int(20, 180)), thread, direction: 'received' }]
  const length = oneWay ? 1 : random.pick([1, 1, 1, 1, 1, 1, 2, 2, 3, 4])
  let at = addMinutes(start, -random.int(7 * MINUTES_PER_DAY, 60 * MINUTES_PER_DAY))
  let received = oneWay || random.chance(0.75)
  return Array.from({ length }, () => {
    const arrival: Arrival = { at, thread, direction: received ? 'received' : 'sent' }
    at = addMinutes(at, random.int(10, MINUTES_PER_DAY))
    received = random.chance(0.8) ? !received : received
    return arrival
  })
}

function attachments(random: SeededRandom, files: readonly File[], subject: Subject): File[] {
  if (!random.chance(0.6)) return []
  const fitting = files.filter(({ file }) => fileFits(file, subject))
  const chosen = random.sample(fitting, Math.min(fitting.length, random.chance(0.2) ? 2 : 1))
  return chosen.reduce((sum, { size_mb }) => sum + size_mb, 0) <= LIMITS.attachmentMb ? chosen : []
}

const sentFolder = (random: SeededRandom): Folder =>
  random.chance(0.85) ? 'sent' : random.pick(['archive', 'trash'] as const)

function receivedFolder(random: SeededRandom, partner: Contact): Folder {
  if (partner.blocked) return random.pick(['spam', 'spam', 'archive', 'trash'] as const)
  if (partner.relation !== 'colleague' && random.chance(0.08)) return 'spam'
  if (random.chance(0.6)) return 'inbox'
  return random.pick(['archive', 'archive', 'archive', 'trash', 'trash', 'snoozed'] as const)
}

function emailLabels(
  random: SeededRandom,
  labels: readonly string[],
  { relation }: Contact,
  subject: Subject,
  place: Folder,
): string[] {
  if (!random.chance(0.6)) return []
  const keeps = (label: string): boolean => label === 'legal-hold' || label === 'starred'
  const fitting = labels.filter((label) => !(place === 'trash' && keeps(label)) && labelFits(label, subject, relation))
  return random.sample(fitting, Math.min(fitting.length, random.chance(0.25) ? 2 : 1))
}

/** A day between the email's own and the session's. */
function trashDate(random: SeededRandom, at: string, start: string): string {
  const age = Math.floor((Date.parse(start) - Date.parse(at)) / 60_000 / MINUTES_PER_DAY)
  return addDays(start.slice(0, 10), -random.int(0, age))
}

function seedDrafts(random: SeededRandom, contacts: readonly Contact[], files: readonly File[]): Draft[] {
  const reachable = contacts.filter(({ active, blocked, relation }) => active && !blocked && relation !== 'service')
  return numbers(random, OPEN_DRAFTS + 1).map((number, index): Draft => {
    const contact = random.pick(reachable)
    const ideas = subjectsFor(contact.relation)
    const backed = ideas.filter((idea) => files.some(({ file }) => fileFits(file, idea)))
    const subject = random.pick(backed.length > 0 ? backed : ideas)
    const carried = random.chance(0.4) ? attachments(random, files, subject).slice(0, 1) : []
    const discarded = index === OPEN_DRAFTS
    return {
      draft: `draft-${number}`,
      subject: subject.line,
      contact: contact.contact,
      body: body(random, subject),
      files: discarded ? [] : carried.map(({ file }) => file),
      size_mb: discarded ? 0 : (carried[0]?.size_mb ?? 0),
      status: discarded ? 'discarded' : 'open',
      thread: null,
      email: null,
    }
  })
}

import type { SeededRandom } from '../kernel/random.js'
import { isMain, type Matter, matterOf, type Purpose, purposeOf } from './matter.js'
import { LIMITS, type Node } from './schema.js'
import { PROJECTS } from './words.js'

/** What people add to the name of a file, by what it is. */
const SUFFIXES: Readonly<Partial<Record<Matter, readonly string[]>>> = {
  archive: ['2025', 'old', 'sent', 'complete'],
  log: ['old', 'checked', 'archived'],
  settings: ['before', 'laptop', 'office', 'test'],
  script: ['v2', 'old', 'tested'],
  table: ['draft', 'final', 'spring', 'checked'],
  invoice: ['paid', 'sent', 'corrected', 'copy'],
  recipe: ['for-guests', 'quick', 'family', 'sunday'],
  tasks: ['week-10', 'march', 'done', 'next-week'],
  groceries: ['weekend', 'party', 'week-10'],
  belongings: ['summer', 'weekend', 'camping'],
  books: ['2026', 'summer', 'favourites'],
  minutes: ['final', 'signed', 'corrected', 'short'],
}
const PLAIN_SUFFIXES = ['draft', 'final', 'reviewed', '2026', 'v2']
const SIGHTS = ['harbour', 'at-night', 'market', 'old-town', 'river', 'view', 'street', 'bridge']
/** What the seed and the suffixes above put behind a name, which a new name does without. */
const WORN = /-(old|copy|draft|final|new|v2)$/

const endingOf = (name: string): string => (name.lastIndexOf('.') > 0 ? name.slice(name.lastIndexOf('.')) : '')

/** The name without its ending, and without what tells one version from another. */
export const stemOf = ({ name }: Pick<Node, 'name'>): string =>
  name.slice(0, name.length - endingOf(name).length).replace(WORN, '')

/** Returns names that a user would give to the file or to a copy of the file. */
export function newNamesOf(file: Node): string[] {
  const stem = stemOf(file)
  const names = file.photo
    ? SIGHTS.map((sight) => `${file.photo!.city.toLowerCase().replaceAll(' ', '-')}-${sight}`)
    : (SUFFIXES[matterOf(file)] ?? PLAIN_SUFFIXES).map((suffix) => `${stem}-${suffix}`)
  const ending = endingOf(file.name)
  return names.map((name) => name + ending).filter((name) => name !== file.name && name.length <= LIMITS.name)
}

/** Names for a copy of a directory. */
export const copyNamesOf = ({ name }: Node): string[] =>
  ['copy', 'backup', '2026', 'draft'].map((suffix) => `${name}-${suffix}`).filter((made) => made.length <= LIMITS.name)

/** Names for an archive of a directory. */
export const archiveNamesOf = ({ name }: Node): string[] =>
  ['backup', '2026', 'march', 'files'].filter((suffix) => suffix !== name).map((suffix) => `${name}-${suffix}`)

/** Names for a link to a file or directory. */
export function linkNamesOf(target: Node): string[] {
  const stem = stemOf(target)
  return [stem, `my-${stem}`, `current-${stem}`, `${stem}-link`].filter((name) => name.length <= LIMITS.name)
}

const NEW_DIRECTORIES: Readonly<Record<Purpose, readonly string[]>> = {
  home: ['documents', 'scans', 'receipts', 'travel', 'letters', 'taxes'],
  notes: ['travel', 'archive', 'private', 'courses', 'house'],
  meetings: ['2025', 'archive', 'board', 'customers'],
  recipes: ['to-try', 'favourites', 'weekdays', 'for-guests', 'holidays'],
  projects: PROJECTS,
  project: ['samples', 'sketches', 'review', 'exports', 'archive'],
  docs: ['review', 'final', 'archive', 'contracts'],
  drafts: ['review', 'rejected', 'second-round'],
  src: ['tests', 'examples', 'old'],
  logs: ['february', 'old', 'errors'],
  invoices: ['2024', 'overdue', 'reminders'],
  config: ['laptop', 'old', 'office'],
  photos: ['family', 'birthday', 'spring', 'prints', 'best-of'],
  downloads: ['manuals', 'to-sort', 'installers', 'tickets'],
  shortcuts: ['work', 'private'],
  team: ['templates', 'reports', 'handbook', 'archive'],
  inbox: ['done', 'urgent', 'later'],
  drop: ['for-review', 'slides', 'posters'],
  temporary: ['test', 'export', 'unpacked'],
  system: [],
}
const NEW_IN_ALBUM = ['best-of', 'to-print', 'edited', 'videos']

/** Names for a new directory in another. */
export const directoryNamesIn = (directory: Node): readonly string[] =>
  purposeOf(directory) === 'photos' && !isMain(directory) ? NEW_IN_ALBUM : NEW_DIRECTORIES[purposeOf(directory)]

type Note = readonly [name: string, text: string]

const OFFICE_NOTES: readonly Note[] = [
  ['questions.txt', 'Who signs the contract, and when do we start?'],
  ['agenda.txt', 'Agenda: numbers of the quarter, open tasks, next steps'],
  ['feedback.txt', 'The draft reads well, but the summary is too long'],
  ['risks.txt', 'The supplier may be two weeks late'],
  ['decisions.txt', 'Budget approved by the board'],
  ['next-steps.txt', 'Ask for a second quote and check the totals'],
  ['handover.txt', 'The key is at the front desk'],
  ['schedule.txt', 'First draft in March, review in April'],
]
const PRIVATE_NOTES: readonly Note[] = [
  ['reminder.txt', 'Call the landlord on Tuesday'],
  ['gift-ideas.txt', 'A teapot for Grandma, a kite for the twins'],
  ['books-to-borrow.txt', 'Open Water, The Salt Road and Small Gardens'],
  ['wifi.txt', 'The code for guests is on the fridge'],
  ['garden.txt', 'Water the tomatoes and cut the hedge'],
  ['film-list.txt', 'The Late Show, Harbour Lights, Two Trains'],
  ['doctor.txt', 'Ask about the new glasses'],
]

/** Notes that somebody would write into a directory: name and text. */
const NOTES: Readonly<Partial<Record<Purpose, readonly Note[]>>> = {
  home: PRIVATE_NOTES,
  notes: PRIVATE_NOTES,
  downloads: [
    ['sources.txt', 'The offer came by email, the prices from the web page'],
    ['to-delete.txt', 'The archives can go once they are unpacked'],
  ],
  meetings: [
    ['agenda.txt', 'Agenda: numbers of the quarter, open tasks, next steps'],
    ['next-meeting.txt', 'Bring the samples and invite the new colleagues'],
    ['topics.txt', 'Talk about the holiday rota and the parking permits'],
  ],
  recipes: [
    ['pancakes.txt', 'Flour, eggs, milk and a pinch of salt'],
    ['tea-cake.txt', 'Butter, sugar, three eggs and a lemon'],
    ['bean-stew.txt', 'Beans, onions, tomatoes and a lot of garlic'],
    ['dal.txt', 'Red lentils, ginger, cumin and spinach'],
    ['menu.txt', 'Soup on Friday, pie on Saturday'],
  ],
  project: OFFICE_NOTES,
  docs: OFFICE_NOTES,
  drafts: OFFICE_NOTES,
  team: OFFICE_NOTES,
  inbox: OFFICE_NOTES,
  drop: OFFICE_NOTES,
  src: [
    ['changelog.txt', 'Totals are checked twice now'],
    ['known-bugs.txt', 'Empty files are read as if they were missing'],
    ['install.txt', 'Python 3 is all that is needed'],
  ],
  logs: [
    ['findings.txt', 'The upload fails whenever the disk is nearly full'],
    ['questions.txt', 'Why is the connection lost at night?'],
  ],
  invoices: [
    ['open-items.txt', 'Two invoices are still open'],
    ['reminders.txt', 'Send the reminders at the end of the month'],
    ['accountant.txt', 'Send the figures to the accountant in April'],
  ],
  config: [
    ['changes.txt', 'Switched the editor to the dark theme'],
    ['printers.txt', 'The printer in the hall is the fast one'],
  ],
  photos: [
    ['captions.txt', 'Sunrise over the old town'],
    ['to-print.txt', 'Two of each for the album'],
    ['shared-with.txt', 'Sent to Grandma and to Leo'],
  ],
  temporary: [
    ['test.txt', 'This is only a test'],
    ['paste.txt', 'Two boxes are still missing'],
  ],
}

/** A note for the directory, if people keep notes there. */
export function noteFor(random: SeededRandom, directory: Node, isFree: (name: string) => boolean): Note | undefined {
  return random.shuffle(NOTES[purposeOf(directory)] ?? []).find(([name]) => isFree(name))
}

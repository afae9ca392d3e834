import type { SeededRandom } from '../kernel/random.js'
import type { Issue } from './schema.js'

const words = (text: string): string[] => text.trim().split(/\s*\n\s*|\s*,\s*/)

export const PROJECTS: readonly (readonly [key: string, name: string])[] = [
  ['WEB', 'Web Shop'],
  ['APP', 'Mobile App'],
  ['OPS', 'Site Operations'],
  ['API', 'Partner Gateway'],
  ['PAY', 'Payment Desk'],
  ['DOC', 'Help Center'],
  ['CRM', 'Sales Portal'],
  ['DATA', 'Data Lake'],
  ['AUTH', 'Sign-in Service'],
  ['MAP', 'Store Locator'],
  ['MAIL', 'Newsletter'],
  ['PLAY', 'Media Player'],
]

export const FIRST_NAMES = words(`
  Ana, Ben, Carla, Dev, Elena, Felix, Grace, Hugo, Iris, Jonas, Kira, Leo, Maya, Nils, Olga, Pablo, Quinn, Rosa, Sam, Tara,
  Uma, Victor, Wanda, Xavier, Yara, Zoe, Aaron, Bella, Cyrus, Diana, Emil, Farah, Gavin, Hana, Igor, Julia, Karim, Lena,
  Marco, Nadia, Oscar, Priya, Ravi, Sara, Theo, Vera, Will, Yusuf, Amir, Chloe, Dario, Erin, Fiona, Greta, Henrik, Jade,
  Kofi, Luisa, Milan, Noor`)

export const LAST_NAMES = words(`
  Lima, Costa, Weber, Patel, Novak, Silva, Kim, Okafor, Berg, Rossi, Tanaka, Haas, Moreau, Singh, Larsen, Ortiz, Keller,
  Adams, Brandt, Chen, Diaz, Evans, Fischer, Garcia, Hughes, Ivanov, Jensen, Khan, Lopez, Meyer, Nguyen, Olsen, Park,
  Quist, Reyes, Santos, Torres, Vargas, Wolf, Young, Zhang, Abbott, Blake, Cohen, Doyle, Ekman, Frost, Grant, Hart,
  Irwin, Jones, Klein, Lund, Marsh, Nash, Owens, Price, Rowe, Stone, Tate`)

/** What issues are about, and what may be said of it: nobody translates a job queue. */
interface Kind {
  readonly subjects: readonly string[]
  /** What is wrong with one. */
  readonly symptoms: readonly string[]
  readonly additions: readonly string[]
  readonly chores: readonly string[]
  readonly labels: readonly string[]
}

/** Some subjects share a word, so that a careless search finds a neighbour. */
const KINDS: readonly Kind[] = [
  {
    subjects: words(`
      login form, login page, profile page, search bar, search page, checkout page, checkout button, coupon field,
      price filter, product gallery, comment section, wish list, shopping basket, return form, error page, landing page,
      start screen, splash screen, side menu, main menu, date picker, color picker, video player, audio player, map view,
      list view, chat window, support form, feedback form, refund dialog, cookie banner, consent dialog, welcome tour,
      team dashboard, admin panel, billing page, pricing table, language switch, gift card page`),
    symptoms: words(`
      crashes on older phones, loads too slowly, breaks on mobile, stays empty, flickers on scroll, cuts long names,
      overlaps the footer, fails for guests, ignores the keyboard, is hard to read`),
    additions: words('dark mode, keyboard shortcuts, help text, large print, second language, usage statistics'),
    chores: words('Redesign, Test, Simplify, Translate, Clean up, Review'),
    labels: words('frontend, design, accessibility, mobile, customer, onboarding'),
  },
  {
    subjects: words(`
      invoice export, invoice search, order tracking, password reset, stock counter, shipping calculator, calendar sync,
      contact sync, email digest, push service, user import, bulk import, file upload, image upload, backup job,
      nightly job, cache layer, job queue, payment retry, card scanner, address lookup, font loader, session timer,
      rate limiter, health check, load balancer, build script, data cleanup`),
    symptoms: words(`
      runs twice, fails without network, ignores time zone, hangs after login, takes too long, stops without a message,
      rejects valid input, fails on weekends, uses too much memory, loses the last entry`),
    additions: words('time limit, dry run, failure alert, usage statistics, retry button, progress bar'),
    chores: words('Document, Refactor, Upgrade, Test, Simplify, Monitor'),
    labels: words('backend, performance, tooling, database, flaky, security, vendor'),
  },
  {
    subjects: words(`
      tax report, sales report, weekly report, audit log, access log, style guide, changelog, tutorial video,
      shipping label, email template, order history, price list, help page, privacy notice`),
    symptoms: words('shows old data, cuts long names, is out of date, mixes up two languages, misses the last page'),
    additions: words('summary, download link, page numbers, archive, second language, print view'),
    chores: words('Review, Update, Translate, Shorten, Clean up, Redesign'),
    labels: words('documentation, legal, research, design, customer'),
  },
]

export const SUBJECTS: readonly string[] = KINDS.flatMap(({ subjects }) => subjects)

/** Labels that fit any issue of a type. */
const TYPE_LABELS: Readonly<Record<Issue['type'], readonly string[]>> = {
  bug: ['regression', 'quick-win'],
  feature: ['mentoring', 'quick-win'],
  task: ['cleanup', 'quick-win'],
}

/** What people write under an issue, by how far it is; bugs have comments of their own. */
const COMMENTS: Readonly<Record<Issue['status'], Readonly<Record<'bug' | 'other', readonly string[]>>>> = {
  todo: {
    bug: words(`
      A customer reported this, I saw it this morning, It only happens on tablets, Screenshots would help,
      It happens every day`),
    other: words(`
      A customer asked for this, The team asked for this, This is a good first issue, We need this before the summer,
      Please keep it small`),
  },
  in_progress: {
    bug: words('The fix is ready, The root cause is found, The fix needs a second look, It needs a second look'),
    other: words('The first version is ready, It is ready for a first look, It needs a second look, It is ready now'),
  },
  review: {
    bug: words('The fix looks good to me, I tested the fix and it works, All tests pass, It works for me'),
    other: words('Looks good to me, I tested it and it works, All tests pass, The customer likes it'),
  },
  done: {
    bug: words('It works for me now, No new reports since the fix, Thanks for the quick fix'),
    other: words('The demo went well, Thanks for the good work, It works for me'),
  },
}

export const GOALS = words(`
  Faster Search, Cleaner Reports, Smooth Checkout, Stable Nights, Happy Guests, Fewer Clicks, Better Onboarding,
  Quiet Alerts, Safe Logins, Clear Prices, Quick Refunds, Solid Tests, Fresh Design, Light Pages, Easy Returns,
  Open Doors, Bug Hunt, Spring Cleaning, Mobile First, Loud Launch, Summer Sale, Holiday Prep, Paper Cuts,
  Strong Basics, Warm Welcome, Tidy Data, True Totals, Short Queues, Bright Icons, Deep Focus`)

const RELEASE_COLORS = words('Amber, Silver, Scarlet, Golden, Ivory, Cobalt, Emerald, Copper')
const RELEASE_NOUNS = words('Harbor, Falcon, Meadow, Lantern, Summit, River, Comet, Garden, Anchor, Willow')

export const releaseName = (random: SeededRandom): string =>
  `${random.pick(RELEASE_COLORS)} ${random.pick(RELEASE_NOUNS)}`

/** A title of two to eight words that contains `subject`. */
export function titleOf(type: Issue['type'], subject: string, random: SeededRandom): string {
  const { symptoms, additions, chores } = KINDS.find(({ subjects }) => subjects.includes(subject))!
  if (type === 'bug') return `${subject[0]!.toUpperCase()}${subject.slice(1)} ${random.pick(symptoms)}`
  if (type === 'feature') return `Add ${random.pick(additions)} to ${subject}`
  return `${random.pick(chores)} ${subject}`
}

export const subjectIn = (title: string): string | undefined =>
  SUBJECTS.find((subject) => title.toLowerCase().includes(subject))

/** Returns the labels that a user would put on such an issue. */
export function labelsFor({ title, type }: Pick<Issue, 'title' | 'type'>): readonly string[] {
  const subject = subjectIn(title)
  const kind = KINDS.find(({ subjects }) => subjects.includes(subject ?? ''))
  return [...(kind?.labels ?? []), ...TYPE_LABELS[type]]
}

/** A comment that fits how far the issue is. */
export const commentOn = ({ status, type }: Pick<Issue, 'status' | 'type'>, random: SeededRandom): string =>
  random.pick(COMMENTS[status][type === 'bug' ? 'bug' : 'other'])

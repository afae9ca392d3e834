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

/** What issues are about. Some share a word, so that a careless search finds a neighbour. */
export const SUBJECTS = words(`
  invoice export, invoice search, order history, order tracking, login form, login page, password reset, profile photo,
  profile page, search bar, search results, checkout flow, checkout button, gift cards, coupon field, price filter,
  product gallery, product reviews, stock counter, wish list, shopping basket, shipping label, return form, tax report,
  sales report, weekly report, audit log, access log, error page, landing page, start screen, splash screen, side menu,
  main menu, date picker, color picker, file upload, image upload, video player, audio player, map view, list view,
  calendar sync, contact sync, email digest, email template, push alerts, chat window, support form, feedback form,
  user import, bulk import, backup job, nightly job, cache layer, job queue, payment retry, refund dialog, card scanner,
  address lookup, language switch, font loader, cookie banner, consent dialog, session timer, rate limiter, health check,
  load balancer, build script, release notes, style guide, tutorial video, welcome tour, team dashboard, admin panel,
  billing page, pricing table, data cleanup, test suite, memory usage`)

const SYMPTOMS = words(`
  crashes on start, shows wrong total, loads too slowly, loses saved changes, ignores time zone, fails for guests,
  breaks on mobile, stays empty, flickers on scroll, rejects valid input, runs twice, hangs after login,
  cuts long names, shows old data, fails without network, overlaps the footer`)

const ADDITIONS = words(`
  dark mode, bulk edit, undo button, keyboard shortcuts, quick filters, offline mode, sharing link, print view,
  progress bar, sort order, saved views, voice input, summary chart, reminder, preview, two columns`)

const CHORES = words(`Document, Refactor, Clean up, Upgrade, Review, Test, Simplify, Redesign, Translate, Monitor`)

export const LABELS = words(`
  frontend, backend, regression, quick-win, customer, security, performance, mobile, design, legal, research, cleanup,
  accessibility, tooling, database, flaky, onboarding, mentoring, vendor, documentation`)

export const COMMENTS = words(`
  works on my machine, needs a second look, customer asked again, fix is almost ready, waiting for design,
  please add a test, seen again today, logs are attached, blocked by vendor, good first issue, split this up,
  ready for testing, same cause as before, happens only on tablets, moved to next week, talked to support,
  root cause found, patch looks good, cannot reproduce it, screenshots would help, legal has agreed,
  rollback was clean, estimate seems low, demo went well`)

export const GOALS = words(`
  Faster Search, Cleaner Reports, Smooth Checkout, Stable Nights, Happy Guests, Fewer Clicks, Better Onboarding,
  Quiet Alerts, Safe Logins, Clear Prices, Quick Refunds, Solid Tests, Fresh Design, Light Pages, Easy Returns,
  Open Doors, Bug Hunt, Spring Cleaning, Mobile First, Loud Launch, Summer Sale, Holiday Prep, Paper Cuts,
  Strong Basics, Warm Welcome, Tidy Data, True Totals, Short Queues, Bright Icons, Deep Focus`)

const RELEASE_COLORS = words('Amber, Silver, Scarlet, Golden, Ivory, Cobalt, Emerald, Copper')
const RELEASE_NOUNS = words('Harbor, Falcon, Meadow, Lantern, Summit, River, Comet, Garden, Anchor, Willow')

export const releaseName = (random: SeededRandom): string =>
  `${random.pick(RELEASE_COLORS)} ${random.pick(RELEASE_NOUNS)}`

/** A title of two to seven words that contains `subject`. */
export function titleOf(type: Issue['type'], subject: string, random: SeededRandom): string {
  if (type === 'bug') return `${subject[0]!.toUpperCase()}${subject.slice(1)} ${random.pick(SYMPTOMS)}`
  if (type === 'feature') return `Add ${random.pick(ADDITIONS)} to ${subject}`
  return `${random.pick(CHORES)} ${subject}`
}

export const subjectIn = (title: string): string | undefined =>
  SUBJECTS.find((subject) => title.toLowerCase().includes(subject))

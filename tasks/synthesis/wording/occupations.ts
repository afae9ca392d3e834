import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import { tradeAndTown } from './personas.js'
import type { Persona } from './speech.js'

/** People by what they do at work, as far as it brings them to worlds that nobody has to do with in private. */
const CIRCLES = {
  software: [
    'a software developer',
    'a systems administrator',
    'a data analyst',
    'a test engineer',
    'a product manager',
    'an interaction designer',
    'a technical writer',
    'a project manager',
    'a release manager',
    'the head of a small development team',
    'a mobile developer',
    'a support engineer',
  ],
  sales: [
    'an account manager',
    'a sales manager',
    'a sales representative',
    'a startup founder',
    'a customer adviser',
    'a business development manager',
    'a marketing manager',
    'a key account manager',
    'an office manager in a sales team',
    'a software salesperson',
    'a small business owner',
  ],
  branches: [
    'a store manager',
    'a stock planner',
    'a regional manager of a chain of shops',
    'a warehouse clerk',
    'a buyer for a chain of shops',
    'a deputy store manager',
    'a logistics coordinator',
    'a sales assistant in a chain of shops',
    'a merchandiser',
    'an inventory controller',
  ],
  invoices: [
    'an accountant',
    'a bookkeeper',
    'a small business owner',
    'a restaurant owner',
    'a freelance photographer',
    'a freelance translator',
    'a carpenter with a workshop',
    'an event planner',
    'a billing clerk',
    'the owner of a print shop',
    'an independent consultant',
    'a caterer',
    'an office manager',
  ],
  office: [
    'an office manager',
    'a project manager',
    'a management consultant',
    'a personnel officer',
    'a marketing manager',
    'a brand designer',
    'a software developer',
    'a product manager',
    'a corporate lawyer',
    'an executive assistant',
    'a data analyst',
    'a communications officer',
    'a sales manager',
    'an accountant',
    'an operations manager',
    'a business analyst',
    'a market researcher',
    'a customer support lead',
  ],
  travels: [
    'an office manager',
    'an executive assistant',
    'a travel agent',
    'an event planner',
    'a project manager',
    'a team assistant',
    'a conference organiser',
    'a management consultant',
    'a sales manager',
    'a tour manager',
    'a university secretary',
  ],
  computers: [
    'a software developer',
    'a systems administrator',
    'a data analyst',
    'a research assistant',
    'a data engineer',
    'a web designer',
    'a technical writer',
    'a civil engineer',
    'a build engineer',
    'a data journalist',
    'a statistician',
    'a web developer',
    'a lab technician',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Worlds of somebody's work, which has colleagues in it. All others are anybody's. */
const WORK: Readonly<Record<string, readonly (keyof typeof CIRCLES)[]>> = {
  calendar: ['office', 'software', 'sales'],
  email: ['office', 'software', 'sales'],
  issue_tracker: ['software'],
  crm: ['sales'],
  retail_chain: ['branches'],
  payments: ['invoices'],
  team_chat: ['office', 'software', 'sales'],
  video_meeting: ['office', 'software', 'sales'],
  travel_booking: ['travels'],
  filesystem: ['computers'],
}

/**
 * The same person with an occupation that brings them to these worlds. Where none is of anybody's work the occupation stays, so that it tells
 * nothing about what will be asked for.
 */
export function inEnvironments(persona: Persona, environments: readonly string[]): Persona {
  const circles = environments.flatMap((environment) => (Object.hasOwn(WORK, environment) ? [WORK[environment]!] : []))
  if (circles.length === 0) return persona
  const [first, ...others] = circles.map((names) => new Set<string>(names.flatMap((name) => CIRCLES[name])))
  const common = [...first!].filter((trade) => others.every((trades) => trades.has(trade)))
  // Nobody of the table does both: then it is somebody to whom the first happens at work.
  const fitting = common.length > 0 ? common : [...first!]
  const { trade, town } = tradeAndTown(persona)
  if (fitting.includes(trade)) return persona
  const random = seededRandom(deriveSeed('occupation', persona.name, persona.role, ...environments))
  return { ...persona, role: `${random.pick(fitting)} from ${town}` }
}

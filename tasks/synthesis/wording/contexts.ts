import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Persona } from './speech.js'

/** What all of a turn does: it only looks things up, it only changes something, or it does both. */
export type Doing = 'looks' | 'changes' | 'both'

/** Why somebody turns to a world. At `~` the time may be said. */
interface Reasons {
  /** Whatever is asked for. */
  readonly any: readonly string[]
  /** Where all of it is a look at something. */
  readonly looks?: readonly string[]
  /** Where all of it changes something. */
  readonly changes?: readonly string[]
}

/**
 * Said before the request. None tells of a thing, a mood or a place that the request, the person or the world could contradict. A world that has
 * none here is asked without.
 */
const LEADS: Readonly<Record<string, Reasons>> = {
  banking: {
    any: ["I'm sorting out my finances~.", "I'm doing my banking~."],
    looks: ["I'm going through my bank things~."],
    changes: ['Something to settle at the bank.'],
  },
  budget: {
    any: ["I'm doing the household accounts~.", "I'm busy with our household books~."],
    looks: ["I'm going over our spending~."],
    changes: ["I'm bringing our household books up to date~."],
  },
  calendar: {
    any: ["I'm sorting out my calendar~.", "It's about my calendar."],
    looks: ["I'm planning ahead~."],
    changes: ["I'm bringing my calendar up to date~."],
  },
  crm: {
    any: ["I'm working in the CRM~.", "It's about our customers."],
    looks: ["I'm going through the CRM~."],
    changes: ["I'm bringing the CRM up to date~."],
  },
  email: {
    any: ["I'm catching up on email~.", "It's about my mail."],
    changes: ["I'm getting my email out of the way~."],
  },
  filesystem: {
    any: ["I'm working on some files~."],
    looks: ["I'm finding my way around this machine."],
  },
  food_delivery: { any: ["It's about food."] },
  iot_devices: {
    any: ["It's about our smart home.", "I'm seeing to the house~."],
    looks: ["I'm doing my round through the house~."],
  },
  issue_tracker: {
    any: ["I'm going through the tracker~.", "It's about our project."],
    looks: ["I'm catching up with the project~."],
    changes: ["I'm doing the chores in our tracker~."],
  },
  maps: { any: [], looks: ['I like to know my way around.'] },
  marketplace: {
    any: ["It's about the marketplace."],
    looks: ["I'm having a look at the marketplace~."],
    changes: ["I'm looking after my deals on the marketplace~."],
  },
  payments: {
    any: ["I'm doing the books~.", "I'm catching up on billing~."],
    looks: ["I'm going over our billing~."],
    changes: ["I'm getting the billing out of the way~."],
  },
  retail_chain: {
    any: ["I'm seeing to the stores~.", "I'm looking after stock~."],
    looks: ["I'm checking on our branches~."],
  },
  shopping: { any: ["I'm on the shop's site~."] },
  social_media: { any: [], looks: ["I'm having a look at what is going on~."] },
  team_chat: {
    any: ["I'm catching up with the team~.", "It's about our chat."],
    looks: ["I'm going through the chat~."],
  },
  trading: {
    any: ["I'm looking after my portfolio~.", "It's about my investments."],
    looks: ["I'm going over my investments~."],
  },
  travel_booking: {
    any: ["I'm looking after our trips~.", "I'm organising travel~."],
    changes: ['Some travel things have to be settled.'],
  },
  vehicle: { any: ["It's about the car."] },
  video_meeting: {
    any: ["I'm looking after our calls~.", "I'm organising our video calls~."],
    looks: ["I'm going through our calls~."],
  },
}

const TIMES = ['', '', '', ' this morning', ' today'] as const

/** Openings that fit everything. */
const ANYWHERE: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: [],
  plain: ['I need a hand with something.', 'I need your help with something.'],
  polite: [
    'I hope you can help me.',
    'Sorry to bother you.',
    'May I trouble you for a moment?',
    'I would be glad of some help.',
    'I need your help with something.',
  ],
  chatty: ["It's been quite a morning.", "Here's something for you.", 'Time for a small favour.', 'I need a hand.'],
}

/** Said after a request that changes something. */
const TRAILS: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: ['tell me when done'],
  plain: ['Let me know when it is done.', 'Tell me when it is done.'],
  polite: ['Please let me know when it is done.', 'That would be a great help.', 'I would be very grateful.'],
  chatty: ['Let me know when it is sorted, yeah?', "I'd be so grateful.", 'Tell me how it went, okay?'],
}

const LEAD_CHANCE = { terse: 0.03, plain: 0.1, polite: 0.13, chatty: 0.22 } as const
const TRAIL_CHANCE = { terse: 0.02, plain: 0.05, polite: 0.07, chatty: 0.1 } as const

/** A reason for a turn that does such things in this world, or mostly none. */
export function lead(environment: string, doing: Doing, register: Persona['register'], random: SeededRandom): string {
  if (!random.chance(LEAD_CHANCE[register])) return ''
  const { any = [], looks = [], changes = [] } = Object.hasOwn(LEADS, environment) ? LEADS[environment]! : {}
  const own = [...any, ...(doing === 'looks' ? looks : doing === 'changes' ? changes : [])]
  const fitting = own.length === 0 || random.chance(0.2) ? ANYWHERE[register] : own
  return fitting.length === 0 ? '' : random.pick(fitting).replace('~', () => random.pick(TIMES))
}

export const trail = (register: Persona['register'], random: SeededRandom): string =>
  random.chance(TRAIL_CHANCE[register]) ? random.pick(TRAILS[register]) : ''

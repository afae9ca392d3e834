import type { SeededRandom } from '../../servers/kernel/index.js'
import type { Persona } from './speech.js'

/**
 * Why somebody turns to a world, said before the request. None names a value or a thing, so that none can contradict what is asked for, and each
 * fits whatever the world does. At `~` the time may be said. A world that has none here is asked without.
 */
const LEADS: Readonly<Record<string, readonly string[]>> = {
  banking: [
    "It's that time of the month.",
    'A bit of banking before lunch.',
    "I'm sorting out my finances~.",
    "I'm going through my accounts~.",
    "I'm doing my money matters~.",
    'I want my bank things in order~.',
  ],
  budget: [
    "We're trying to save a little.",
    "I'm doing the household accounts~.",
    "I'm going over our spending~.",
    "I'm at the kitchen table with our budget~.",
    'My partner and I are going through our spending~.',
    "I'm keeping our books~.",
    'We want to know where we stand.',
    'I promised to keep the household books tidy.',
  ],
  calendar: [
    'My week is filling up.',
    "I'm planning my week~.",
    "I'm sorting out my calendar~.",
    "I'm going through my appointments~.",
    'Things have changed a little on my side.',
    'I keep double-booking myself.',
    "I'm getting my days in order~.",
  ],
  crm: [
    'The quarter is nearly over.',
    'Lots of calls with customers lately.',
    'Our pipeline needs some love.',
    "I'm preparing the pipeline review~.",
    "I'm tidying up my accounts~.",
    "I'm updating the CRM~.",
    "I'm going through my customers~.",
    "I've just come off the phone with a customer.",
    "I'm working on the pipeline~.",
  ],
  email: [
    'Too many mails lately.',
    "I'm going through my inbox~.",
    "I'm catching up on email~.",
    "I'm clearing my mail~.",
    'I only have my phone with me, so this has to go through you.',
    'I have been offline for a while.',
    "I'm about to board a train, so let's be quick.",
    'My inbox is full again.',
  ],
  filesystem: [
    'My folders have grown wild.',
    "I'm at the terminal~.",
    'I want my home directory in good shape.',
    "I'm tidying up my files~.",
    "I'm in the shell and want to be quick.",
    "I'm finding my way around this machine.",
    "I'm putting my folders in order~.",
    "I'm going through my files~.",
  ],
  food_delivery: [
    "It's been a long day.",
    'We are not cooking this week.',
    "I don't feel like cooking.",
    "It's about our food.",
    'Nobody here wants to cook.',
    "I'm looking after the food~.",
  ],
  iot_devices: [
    "I'm away from home at the moment.",
    'The house needs some attention.',
    "It's about our smart home.",
    "I'm doing my round through the house~.",
    "I'm at work but want the house to be in order.",
    'My hands are full.',
    "I'm getting the house ready~.",
    'I want the place comfortable.',
  ],
  issue_tracker: [
    "I'm preparing for stand-up.",
    "I'm going through the board~.",
    "I'm cleaning up the tracker~.",
    'I have been away and need to catch up with the project.',
    'We have planning later today.',
    'The team asked me to look after the tracker.',
    "I'm doing the chores in our tracker~.",
  ],
  maps: [
    'I like to know my way in advance.',
    "My phone's map is confusing me.",
    "I'm new in town.",
    "I'm planning a few errands~.",
    "I'm planning my route~.",
    "I'm helping my parents find their way.",
    'I know the place far too little.',
    "I'm on my feet a lot today.",
  ],
  marketplace: [
    "I'm on the marketplace quite a lot these days.",
    'Too much stuff at home.',
    "I'm looking after my things on the marketplace~.",
    'I buy and sell a lot of used things.',
    'We are getting our flat in order.',
    "I'm going through my deals~.",
  ],
  payments: [
    'Billing day again.',
    "The invoices won't look after themselves.",
    "I'm doing the books~.",
    "I'm catching up on billing~.",
    "I'm getting the billing out of the way~.",
    'The accounts need some care.',
    "I'm closing the month~.",
    'My tax adviser wants the payments in order.',
  ],
  retail_chain: [
    "It's inventory season.",
    'Head office keeps asking.',
    "I'm going through the branches~.",
    "I'm preparing the stock meeting.",
    'One of our stores has called.',
    "I'm looking after stock~.",
    'The weekend was busy in the stores.',
    "I'm checking on our branches~.",
  ],
  shopping: [
    "I'm going through my shopping list.",
    "It's about my account at the shop.",
    "I'm doing some shopping~.",
    "I'm on my break, so let's be quick.",
    "I'm on the shop's site~.",
    'A friend recommended your shop.',
    "I'm doing my shopping between two appointments.",
  ],
  social_media: [
    'A friend told me to be more active here.',
    'Five minutes of scrolling.',
    "I haven't been online for days.",
    "I'm having a look at what is going on~.",
    "I'm on the bus with my phone.",
    "I'm looking after my account~.",
    "I'm trying to be more active here.",
    'A short break for social media.',
  ],
  team_chat: [
    'The channels are busy today.',
    'Chat housekeeping.',
    "I've been in meetings all morning.",
    "I'm catching up with the team~.",
    'My colleagues are in another time zone.',
    "I'm on my phone, so help me with the chat.",
    'There is a lot going on in our chat.',
    "I'm going through the chat~.",
  ],
  trading: [
    'I check my stocks every Monday.',
    'Just a bit of portfolio housekeeping.',
    "I'm looking after my portfolio~.",
    "I'm doing my weekly look at my investments.",
    "I'm going over my investments~.",
    'I follow the market a little.',
    "I'm new to trading, so bear with me.",
    'The market moves a lot these days.',
  ],
  travel_booking: [
    'Travel plans keep changing.',
    'Our travellers keep me busy.',
    "I'm looking after our trips~.",
    "I'm organising travel~.",
    "I'm doing the travel for my team~.",
    'Travel matters again.',
    'Some travel things have to be settled.',
    "I'm going through our bookings~.",
  ],
  vehicle: [
    "It's my first week with this car.",
    'A question about the car.',
    "I'm sitting in the car.",
    "I'm not used to this car yet.",
    'My hands are on the wheel, so please do this for me.',
    "I'm in the car.",
  ],
  video_meeting: [
    'Back-to-back calls again.',
    'I have a lot of calls this week.',
    "I'm looking after our calls~.",
    "I'm organising our video meetings~.",
    'I am the host and a bit lost.',
    'My screen is full, so I would rather ask you.',
    "I'm going through our calls~.",
  ],
}

const TIMES = ['', '', '', ' this morning', ' today'] as const

/** Reasons that fit everything. */
const ANYWHERE: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: ['quick one.', 'busy day.', 'on my phone.'],
  plain: [
    'I need a hand with something.',
    "I'm in a bit of a hurry.",
    'A short one.',
    'Can you spare a minute?',
    'Let me keep this brief.',
  ],
  polite: [
    'I hope you can help me.',
    'Sorry to bother you.',
    'May I trouble you for a moment?',
    'I would be glad of some assistance.',
    'I have a small request.',
    'I need your help with something.',
  ],
  chatty: [
    "So, it's one of those days.",
    "I've only got a minute.",
    "I'm a bit scatterbrained today.",
    'Coffee first, but then this.',
    'My head is spinning already.',
    'I owe you one already.',
    'Time for a small favour.',
    "Here's something for you to do.",
    "It's been quite a morning.",
    'Bear with me for a second.',
  ],
}

/** Said after a request that changes something. */
const TRAILS: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: ['in a rush', 'asap'],
  plain: ["It's a bit urgent.", 'Let me know how it goes.', 'Tell me when it is done.'],
  polite: [
    'I would like to have this settled today.',
    'Please let me know when it is done.',
    'I am afraid it cannot wait.',
    'I would be glad to have that off my list.',
    'That would be a great help.',
    'I would be very grateful.',
    'Please tell me if that is a problem.',
  ],
  chatty: [
    "I'd do it myself but I'm on the move.",
    'Let me know when it is sorted, yeah?',
    "That'd be one thing less on my list.",
    "I'd be so grateful.",
    'You would save my day.',
    'Tell me how it went, okay?',
  ],
}

const LEAD_CHANCE = { terse: 0.06, plain: 0.25, polite: 0.3, chatty: 0.55 } as const
const TRAIL_CHANCE = { terse: 0.03, plain: 0.07, polite: 0.1, chatty: 0.15 } as const

export function lead(world: string, register: Persona['register'], random: SeededRandom): string {
  if (!random.chance(LEAD_CHANCE[register])) return ''
  const own = Object.hasOwn(LEADS, world) ? LEADS[world]! : []
  if (own.length === 0 || random.chance(0.2)) return random.pick(ANYWHERE[register])
  return random.pick(own).replace('~', () => random.pick(TIMES))
}

export const trail = (register: Persona['register'], random: SeededRandom): string =>
  random.chance(TRAIL_CHANCE[register]) ? random.pick(TRAILS[register]) : ''

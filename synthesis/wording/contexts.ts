import type { SeededRandom } from '../../servers/kernel/index.js'
import type { Persona } from './speech.js'

/**
 * Why somebody turns to a world, said before the request. None names a value, so that none can contradict what is asked
 * for. A world that has none here is asked without.
 */
const LEADS: Readonly<Record<string, readonly string[]>> = {
  banking: [
    "I'm finally sorting out my finances.",
    'I want to get my bank stuff in order this morning.',
    "I'm going through my money matters right now.",
    "I've been putting this off for weeks.",
    "I'm trying to be more careful with money.",
    'I am doing my paperwork.',
  ],
  budget: [
    "We're having our family money talk tonight.",
    "I'm doing the household accounts.",
    'We spent too much again, I fear.',
    "I'm going over the receipts on the kitchen table.",
    'My partner and I want to know where the money goes.',
    "I'm trying to keep our spending in check.",
    "It's budget evening at our place.",
    'The kids keep needing new things.',
    'I promised to keep our books tidy.',
  ],
  calendar: [
    'My week is a mess.',
    "I'm planning the next few days.",
    'My boss keeps moving things around.',
    "I'm trying to get my schedule under control.",
    'Things changed at work this morning.',
    'We are getting ready for the client visit.',
    'I keep double-booking myself.',
    'The team wants to meet more often.',
    "I'm back from holiday and catching up.",
  ],
  crm: [
    "I'm preparing for the pipeline review.",
    'My sales manager wants an update.',
    "I've just come off the phone with a client.",
    "I'm tidying up my accounts before the end of the quarter.",
    "I'm taking over part of the territory.",
    'The trade fair gave us a lot of work.',
    "I'm trying to hit my quota.",
  ],
  email: [
    'My inbox is out of control.',
    "I'm catching up on mail.",
    'I only have my phone with me.',
    "I've been offline all morning.",
    "I'm about to board a train, so let's be quick.",
    'I lost track of my correspondence.',
    "I'm clearing out old messages.",
  ],
  filesystem: [
    "I'm preparing a handover for a colleague.",
    'I made a bit of a mess in my folders.',
    "I'm trying to find my way around here.",
    'I want to put my things in order before I go on leave.',
    "I don't remember where I put things.",
  ],
  food_delivery: [
    'Nobody here wants to cook.',
    "We've got friends over.",
    "I'm stuck at my desk and need something to eat.",
    'It was a long day.',
    "The kids are hungry and I'm tired.",
    "We're having a film night.",
    "I don't feel like cooking.",
  ],
  iot_devices: [
    "I'm getting comfortable for the evening.",
    "I'm doing my round through the house.",
    "I'm still at work but want the house ready.",
    'My hands are full.',
  ],
  issue_tracker: [
    "I'm preparing for stand-up.",
    "I'm going through the backlog.",
    "I'm grooming the board.",
    'The release is close.',
    "I've been away and need to catch up on the project.",
    'QA just pinged me.',
    "We're a bit behind.",
    'My product manager is asking questions.',
    'The retro left us with some chores.',
  ],
  maps: [
    "I'm new in town.",
    "I'm planning a day out.",
    "I'm already running late.",
    "I'm trying to work out my way.",
    'My phone lost signal earlier.',
    'We are planning a little trip.',
    'I have some errands to run.',
    "I'm helping my parents find their way.",
  ],
  marketplace: [
    "I'm furnishing my new flat on a shoestring.",
    'My cousin swears by buying used.',
    "I'm trying to earn a little from my old things.",
    'Moving day is coming closer.',
    "I've been checking the market all week.",
  ],
  payments: [
    "I'm doing the books for my business.",
    'My accountant wants this sorted.',
    'I want to get the billing out of the way.',
    'Cash flow is a bit tight.',
    "I'm closing the month for my shop.",
    "I'm catching up on billing.",
  ],
  retail_chain: [
    "I'm doing my rounds of the branches.",
    'The weekend rush is coming.',
    'One of our store managers called.',
    "I'm preparing the stock meeting.",
    "We're getting ready for the sale.",
    'The regional manager wants to know.',
    "I'm covering for the stock planner.",
  ],
  shopping: [
    "I'm doing some shopping.",
    'I have a bit of money to spend.',
    "I'm getting things for the new flat.",
    "I'm on my lunch break, so let's be quick.",
    'A friend recommended the shop to me.',
    "It's that time of year again.",
    "I'm trying not to spend too much.",
  ],
  social_media: [
    "I haven't been online for days.",
    "I'm bored on the bus.",
    'I want to see what everyone is up to.',
    "I'm trying to be more active on here.",
    'A friend told me I missed something.',
    'Quick social media break.',
    'My little account is growing.',
    'People keep asking me things.',
  ],
  team_chat: [
    "I've been in meetings all morning.",
    "I'm catching up with the team.",
    'My teammates are in another time zone.',
    "I'm out of the office but want to stay in the loop.",
    'Somebody pinged me earlier.',
    'There is a lot going on in the chat.',
    "I'm on my phone, so help me out.",
    'The launch has everyone talking.',
  ],
  trading: [
    "I'm reviewing my portfolio.",
    'The market looks jumpy.',
    "I'm new to trading, so bear with me.",
    'I have some cash lying around.',
    "I've been watching the market all morning.",
    "I'm doing my weekly check of my investments.",
    'I want to sleep well tonight.',
  ],
  travel_booking: [
    "I'm organising a trip.",
    'My plans changed.',
    'I have to travel for work.',
    "I'm booking things for my team.",
    'My assistant is off, so I am doing this myself.',
    'The conference organisers confirmed at last.',
    "I'm looking after my parents' travels.",
    'I hate booking trips.',
    'Our finance people want the travel tidy.',
  ],
  vehicle: [
    "We're loading the car.",
    "I'm sitting in the car.",
    'The kids are already in the back.',
    "I'm not used to this car yet.",
    'I borrowed the car from my sister.',
  ],
  video_meeting: [
    'Our call is coming up.',
    "I'm hosting a few calls.",
    "I'm juggling several video calls.",
    'The team is waiting for me.',
    "I'm organising the remote sessions.",
    'My connection is bad, so please help.',
    'I promised to take care of the call.',
    'We have external guests.',
    "I'm the host and a bit lost.",
  ],
}

/** Reasons that fit everything. */
const ANYWHERE: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: ['quick one.', 'in a hurry.', 'busy day.', 'need this fast.', 'on my phone.'],
  plain: [
    'Quick question.',
    'I need a hand with something.',
    "I'm in a bit of a hurry.",
    'Short request:',
    'Before I forget:',
    'I have something for you.',
    'Two seconds:',
  ],
  polite: [
    'I hope you can help me.',
    'Sorry to bother you.',
    'I have a small request.',
    'I would need your help with something.',
    'If you have a moment:',
    'I hope this is the right place to ask.',
  ],
  chatty: [
    "So, it's one of those days.",
    "I've only got a minute.",
    "Okay, don't laugh.",
    "I'm a bit scatterbrained today.",
    'Coffee first, but then this.',
    "I'm multitasking like crazy.",
    'My head is spinning already.',
    'Right, where do I start.',
    "It's been quite a day.",
    'Bear with me for a second.',
    "I'll make it short.",
  ],
}

/** Said after the request. */
const TRAILS: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: ['in a rush', 'urgent', 'need it now'],
  plain: [
    "It's a bit urgent.",
    'I need this before lunch.',
    'My boss is waiting for it.',
    'Let me know how it goes.',
    'I have to leave soon.',
    "That's important to me.",
    "I'd rather not do it by hand.",
  ],
  polite: [
    'I would like to have this settled today.',
    'It is rather important to me.',
    'Please let me know if anything is unclear.',
    'I am on a tight schedule, unfortunately.',
    'I am afraid it cannot wait.',
  ],
  chatty: [
    "I keep forgetting, so let's get it over with.",
    'I promised somebody I would, you know how it is.',
    "Otherwise I'll never get round to it.",
    "Don't ask why, long story.",
    'Then I can finally relax.',
    "I've got somebody on the other line.",
    'Fingers crossed!',
    "I'd do it myself but I'm on the move.",
    'Let me know when it is sorted, yeah?',
  ],
}

const LEAD_CHANCE = { terse: 0.06, plain: 0.25, polite: 0.3, chatty: 0.6 } as const
const TRAIL_CHANCE = { terse: 0.03, plain: 0.08, polite: 0.12, chatty: 0.2 } as const

export function lead(world: string, register: Persona['register'], random: SeededRandom): string {
  if (!random.chance(LEAD_CHANCE[register])) return ''
  const own = Object.hasOwn(LEADS, world) ? LEADS[world]! : []
  return own.length > 0 && random.chance(0.75) ? random.pick(own) : random.pick(ANYWHERE[register])
}

export const trail = (register: Persona['register'], random: SeededRandom): string =>
  random.chance(TRAIL_CHANCE[register]) ? random.pick(TRAILS[register]) : ''

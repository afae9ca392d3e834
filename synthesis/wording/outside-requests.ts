import type { SeededRandom } from '../../servers/kernel/index.js'
import { drawPersona } from './personas.js'
import type { SmallTalk } from './small-talk.js'

/**
 * Requests that no tool of any world serves and that nobody can answer without one: what is happening now, things of the user that are kept elsewhere,
 * things to be done with the hands. What everybody knows is not among them: an assistant without a tool for it would answer. `(a|b)` is one of these.
 */
const OUTSIDE_REQUESTS: Readonly<Record<string, readonly string[]>> = {
  weather: [
    'Will it rain <city> (tomorrow|tonight|this weekend|on Saturday|this afternoon)?',
    'How (warm|cold|windy) is it <city> right now?',
    'Do I need (an umbrella|a coat|sunscreen) <city> today?',
    'Is there a storm coming <city> (tonight|this week|tomorrow)?',
    'How high is the pollen count <city> (today|tomorrow)?',
    'When does the sun (rise|set) <city> tomorrow?',
    'Is there any fresh snow up in the (Alps|Pyrenees|Tatras|Rockies)?',
    'When is high tide (tomorrow|today|on Sunday)?',
  ],
  'sports results': [
    'Who won the (football|rugby|basketball|ice hockey|handball|volleyball) (last night|yesterday|on Sunday)?',
    'What is the score in the (football|rugby|basketball|ice hockey|handball) right now?',
    "When does the (women's|men's) national (football|rugby|basketball|handball) team play next?",
    'Who is leading the (Tour de France|Giro|Vuelta|Formula 1 championship|ski world cup)?',
    'Did our (tennis|boxing|swimming|rowing) team win (yesterday|last night|on Saturday)?',
    'How is our (football|rugby|handball) team doing in the league?',
  ],
  'television and cinema': [
    'What is on TV (tonight|at eight|on Friday evening)?',
    'Which films are showing <city> (tonight|this weekend|on Friday)?',
    'Is the new season of the (baking|quiz|detective|cooking|talent) show out yet?',
    'Record the (news|match|documentary|quiz show) on channel (two|four|seven) (tonight|tomorrow) for me.',
    'How much is a ticket at the (Odeon|Rex|Lux|Capitol) <city>?',
  ],
  'public transport': [
    'When does the next (train|bus|ferry) to <place> leave?',
    'Is the (8:15|7:40|17:05|18:30) train from <place> late (today|again)?',
    'Buy me a train ticket to <place> for (tomorrow|Friday|Monday morning).',
    'Which platform does the train to <place> leave from?',
    'Are the buses on strike <city> (today|tomorrow|this week)?',
    'Renew my (monthly|yearly) bus pass, please.',
  ],
  news: [
    'What are the headlines (this morning|today|right now)?',
    'What came out of the (climate|budget|trade|peace) talks (yesterday|today)?',
    'Who is ahead in the election <city>?',
    'Is there anything new about the (strike|flood|fire|power cut) <city>?',
    'Did the (central bank|council|parliament) decide anything (yesterday|today)?',
    'What were the lottery numbers (last night|on Wednesday|on Saturday)?',
  ],
  'currency and prices outside': [
    'What is the (dollar|pound|franc|yen|krona) at against the euro today?',
    'How much is a litre of (petrol|diesel) <city> at the moment?',
    'What does an ounce of (gold|silver) cost right now?',
    'How many (pounds|dollars|francs|kronor) would I get for (50|200|350|1000) euros today?',
    'What is the average rent <city> these days?',
  ],
  health: [
    'Are my (blood test|X-ray|allergy test) results there?',
    'Renew my prescription for the (blood pressure|asthma|thyroid|hay fever) medicine.',
    'Which pharmacy <city> is on night duty (tonight|this weekend)?',
    'Ask my (dentist|doctor|optician|physiotherapist) for an earlier appointment.',
    'When was my last (tetanus|flu|measles) jab?',
    'What was my heart rate (this morning|during the run|last night)?',
    'How (long|well) did I sleep last night?',
    'How many steps did I walk (today|yesterday|last week)?',
  ],
  'town hall': [
    'When is the (paper|glass|garden|plastic) waste collected in my street?',
    'Report a broken street lamp in <street>.',
    'Register my (dog|bicycle|new address) with the town hall.',
    'Is my (driving licence|identity card|residence permit) ready to be picked up?',
    'Apply for a parking permit for <street> in my name.',
    'How long is the queue at the (registry|tax) office right now?',
  ],
  phone: [
    'Call (my mother|my brother|my landlord|my neighbour|the school) and say that I am late.',
    'Set a timer for (5|8|12|20|25|40) minutes.',
    'Wake me at (6:15|6:30|7|7:45) tomorrow.',
    'Make my phone screen (brighter|darker).',
    'How full is the battery of my (phone|tablet|watch)?',
    'Turn on (flight mode|the torch|the hotspot) on my phone.',
    'Who rang me (last night|an hour ago|this morning)?',
  ],
  'booking people': [
    'Get me a (plumber|chimney sweep|locksmith|glazier) for (tomorrow|Thursday|next week).',
    'Book me a (haircut|massage|manicure) for (Friday|Saturday morning|next Tuesday).',
    'Find me a babysitter for (tonight|Saturday|Friday evening).',
    'Reserve a (tennis|squash|badminton) court for (two|four) on (Sunday|Wednesday evening).',
    "Order a taxi to <street> for (six|half past seven|nine) o'clock.",
    'Have my (boots|brown shoes|winter coat|watch) repaired, please.',
    'Sign me up for the (yoga|pottery|Spanish|swimming) course on (Mondays|Thursdays).',
  ],
  'paper and pictures': [
    'Print (two|three|five) copies of the (contract|boarding pass|timetable|flyer).',
    'Scan the letter that came from the (bank|landlord|insurance) today.',
    'Draw me a picture of a (lighthouse|fox|sailing boat|castle) for my (daughter|son|nephew).',
    'Make a logo for my (bakery|band|book club|bike shop).',
    'Cut the first (ten|thirty) seconds off my holiday video.',
    'Take the people out of the background of my (beach|wedding|holiday) photo.',
    'Read the (manual|contract|letter) on my desk out loud to me.',
  ],
  'school and library': [
    'What homework does my (daughter|son) have for (tomorrow|Monday|Thursday)?',
    'What is for lunch at school (today|tomorrow|on Friday)?',
    'Renew the (two|three|four) books that I have from the library.',
    'Is (Middlemarch|Moby-Dick|Dracula|Don Quixote|Persuasion) on the shelf at the town library?',
    'Tell the school that my (daughter|son) is ill today.',
    'Sign the form for the trip to the (museum|zoo|seaside) for me.',
    'What mark did I get in the (statistics|history|chemistry) exam?',
  ],
  'family and home': [
    'Where did I leave my (keys|glasses|wallet|umbrella)?',
    'Water the plants on the (balcony|window sill|terrace) (this evening|tomorrow), please.',
    'Walk the dog for me (at noon|this evening|tomorrow morning).',
    'Hang the washing out, would you?',
    'Feed the (cat|goldfish|rabbits) while I am away.',
    'How much did I (weigh|run) last month?',
    'What did I have for dinner (yesterday|last Sunday)?',
    'Take the (bins|recycling|old sofa) out for me.',
  ],
  insurance: [
    'Does my insurance pay for a (broken window|stolen bike|cracked phone|burst pipe)?',
    'Report a (water|hail|fire|glass) damage to my insurance.',
    'What is the excess on my (home|travel|bike) insurance?',
    'Change my (gas|water|internet) provider to a cheaper one.',
    'Read my (water|gas) meter and send the number in.',
    'When does my (internet|gym|phone) contract run out?',
  ],
}

const CITIES =
  'in Lisbon|in Nairobi|in Osaka|in Bergen|in Kraków|in Valparaíso|in Toronto|in Accra|in Seville|in Tallinn|in Pune|here'.split(
    '|',
  )
const PLACES = ['Ghent', 'Basel', 'Gdansk', 'York', 'Malmo', 'Bilbao', 'Graz', 'Verona', 'Aarhus', 'Leipzig'] as const
const STREETS = [
  'Rope Walk',
  'Old Mill Road',
  'Canal Street',
  'Vineyard Lane',
  'Station Road',
  'Poplar Avenue',
] as const
const GREETINGS = [
  'Hi! ',
  'Hello! ',
  'Hey, ',
  'Quick question: ',
  'Hi there. ',
  'Morning! ',
  'Sorry to bother you. ',
  'Me again. ',
] as const
const CLOSINGS = [
  ' Thanks!',
  ' Thank you.',
  ' Thanks in advance.',
  ' Please.',
  ' It is a bit urgent.',
  " I'm on the go.",
] as const

/** A request that no tool serves. */
export function outsideRequest(random: SeededRandom): SmallTalk {
  const topic = random.pick(Object.keys(OUTSIDE_REQUESTS))
  const text = random
    .pick(OUTSIDE_REQUESTS[topic]!)
    .replaceAll(/\(([^)]*\|[^)]*)\)/g, (_, choices: string) => random.pick(choices.split('|')))
    .replace('<city>', () => random.pick(CITIES))
    .replace('<place>', () => random.pick(PLACES))
    .replace('<street>', () => random.pick(STREETS))
  const { register } = drawPersona(random)
  if (register === 'terse') return { topic, text: text.toLowerCase().replace(/[.?]$/, '') }
  const order = /\.$/.test(text)
  const asked =
    order && random.chance(0.5)
      ? `${random.pick(['Can you ', 'Could you ', 'Would you '])}${lowered(text).replace(/(, please)?\.$/, '?')}`
      : text
  const lead = random.chance(0.3) ? random.pick(GREETINGS) : ''
  const tail = random.chance(0.2) && !/please|would you\?/i.test(asked) ? random.pick(CLOSINGS) : ''
  const said = /[,:] $/.test(lead) ? lead + lowered(asked) : lead + asked
  return { topic, text: said + (tail === ' Please.' && !order ? '' : tail) }
}

const lowered = (text: string): string => text[0]!.toLowerCase() + text.slice(1)

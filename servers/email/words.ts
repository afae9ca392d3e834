import type { SeededRandom } from '../kernel/random.js'
import { wordList } from '../kernel/text.js'
import { SERVICES, type Subject } from './subjects.js'

export const FIRST_NAMES = wordList(`
  ana ben carla david elena felix grace hugo iris jonas kira leo maria nina omar paula quinn rosa sam tara ulla victor
  wendy xavier yara zoe adam bella chen diana emil fiona george hana ivan julia karl lina marco nora oscar petra rafael
  sofia tom uma vera will yusuf amy boris clara dario eva frank gina henry ines jack amina deepak haruto kwame leila
  mateo ngozi priya ravi thandi
`)

export const LAST_NAMES = wordList(`
  lima stone walker garcia novak fischer rossi tanaka kim singh patel brown wilson moreau dubois silva costa jansen
  larsen berg weber wagner keller hoffman marin popa ivanov petrov kaya demir haddad mansour okafor mensah cohen levi
  mori sato chen wang nguyen tran reyes cruz ortiz vega molina santos baker cooper mason fisher hunter taylor moore
  clark young king wright
`)

/** What is written about a matter; `{}` is its topic. None asks or says what only the other side could. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  plan: [
    'The plan for the {} is ready, so please tell me what you think',
    'I changed two points in the plan for the {}',
    'We should go through the plan for the {} together on Monday',
  ],
  update: [
    'The {} is on track for the end of the month',
    'There is a short delay with the {}, but nothing serious',
    'The next step for the {} is planned for Monday',
  ],
  draft: [
    'Please read the {} draft before Friday',
    'I added two pages to the {} draft',
    'The {} draft is ready for your comments',
  ],
  schedule: [
    'The {} schedule starts on Monday',
    'I moved one date in the {} schedule',
    'Please confirm the {} schedule by Thursday',
  ],
  costs: [
    'The costs of the {} are a little higher than planned',
    'Please check the costs of the {} this week',
    'I found a way to lower the costs of the {}',
  ],
  feedback: [
    'Thank you for the feedback on the {}',
    'I have collected all the feedback on the {}',
    'Please send your feedback on the {} by Friday',
  ],
  meeting: [
    'The {} meeting is on Thursday at ten',
    'I will be a few minutes late for the {} meeting',
    'We need a bigger room for the {} meeting',
  ],
  agenda: [
    'The agenda for the {} has five points',
    'Please add your points to the {} agenda',
    'I put the open questions at the end of the {} agenda',
  ],
  review: [
    'The {} review went well',
    'I need your numbers for the {} review by Wednesday',
    'We have an hour for the {} review on Friday',
  ],
  summary: [
    'Here is a short summary of the {}',
    'Please correct the {} summary where it is wrong',
    'The {} summary fits on one page now',
  ],
  list: [
    'I put three more names on the list for the {}',
    'Please check whether your name is on the list for the {}',
    'The list for the {} closes on Friday',
  ],
  booking: [
    'The booking for the {} is confirmed',
    'I had to change the booking for the {}',
    'We can still cancel the booking for the {} this week',
  ],
  dates: [
    'We can choose between two dates for the {}',
    'The first date for the {} suits me better',
    'Please tell me by Sunday which date for the {} suits you',
  ],
  offer: [
    'The offer for the {} holds until the end of the month',
    'Please look at the new offer for the {}',
    'I have two questions about the offer for the {}',
  ],
  contract: [
    'Please sign the {} contract this week',
    'I have two questions about the {} contract',
    'The {} contract is ready in its final version',
  ],
  invoice: [
    'The {} invoice is due on Friday',
    'Please check the second line of the {} invoice',
    'The {} invoice was paid this morning',
  ],
  order: [
    'The order for the {} is confirmed',
    'We would like to add two items to the order for the {}',
    'The order for the {} arrives next week',
  ],
  quote: [
    'The quote for the {} is higher than expected',
    'I asked a second firm for a quote for the {}',
    'The quote for the {} is valid until the end of the month',
  ],
  photos: [
    'Here are the photos of the {}',
    'I like the second photo of the {} best',
    'Please pick the photos of the {} that you want to keep',
  ],
  delivery: [
    'The delivery for the {} comes on Tuesday morning',
    'Somebody has to be at home for the delivery for the {}',
    'One box is missing from the delivery for the {}',
  ],
  tickets: [
    'I have two tickets for the {}',
    'The tickets for the {} came today',
    'Please pay me back for the {} tickets when we meet',
  ],
  reminder: [
    'The {} is next week, so please answer soon',
    'Please do not forget the {}',
    'We meet half an hour before the {}',
  ],
}

/** What a service writes, whichever it is. */
const SERVICE_LINES: Readonly<Record<string, string>> = {
  invoice: 'Your invoice for last month is ready',
  newsletter: 'Here is our news of this month',
  reminder: 'Please check your address by the end of the month',
  offer: 'You save ten percent on your next order until Friday',
  survey: 'Please tell us how satisfied you are',
}

const REPLIES: readonly string[] = [
  'Thank you, I will look at it today',
  'That works for me',
  'I will get back to you on Monday',
  'I have one question, so please call me',
  'Thank you for telling me',
  'I agree, let us do it this way',
]

const NOTES: readonly string[] = [
  'For your information',
  'Please have a look when you have time',
  'You may need this',
  'I thought this would interest you',
]

/** Some words of text for an email with this subject, other ones than those given if there are any. */
export function body(random: SeededRandom, { topic, matter }: Subject, said: readonly string[] = []): string {
  if (SERVICES.includes(topic)) return SERVICE_LINES[matter]!
  const texts = LINES[matter]!.map((line) => line.replace('{}', topic.toLowerCase()))
  const others = texts.filter((text) => !said.includes(text))
  return random.pick(others.length > 0 ? others : texts)
}

/** Of which an email only tells: nobody looks at a delivery tonight. */
const TO_COME = wordList('meeting delivery dates reminder booking tickets review update')

/** Draws a reply that either names the subject of the email or fits any email. */
export function reply(random: SeededRandom, subject: Subject | undefined): string {
  if (subject === undefined || random.chance(0.4)) return random.pick(REPLIES)
  const about = `the ${subject.topic.toLowerCase()} ${subject.matter}`
  const talk = [`I have a question about ${about}`, `Let us talk about ${about} on Monday`]
  return random.pick(
    TO_COME.includes(subject.matter) ? talk : [...talk, `Thank you for ${about}`, `I will look at ${about} tonight`],
  )
}

export const note = (random: SeededRandom): string => random.pick(NOTES)

export const titleCase = (words: string): string => words.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** Sentences that people write in an out-of-office reply. */
export const ABSENCE_NOTES: readonly string[] = [
  'I am on holiday',
  'I will be back soon',
  'I am travelling for work',
  'I am at a conference',
  'Please call the office',
  'I read mail once a week',
  'I am away with my family',
  'I am on sick leave',
  'I am on a training course',
  'I am moving house',
]

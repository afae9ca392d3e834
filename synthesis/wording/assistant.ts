import { askedFor, choicesOf, listed } from './field-words.js'
import type { Ask, Moment } from './speech.js'

/** `#` stands for what is missing. */
const QUESTIONS = [
  'What # would you like?',
  'Which # should I use?',
  'Sure. Which # do you have in mind?',
  'I can do that. What is the #?',
  'Could you tell me the #?',
  'I just need one more thing: the #.',
  'Before I go ahead: which #?',
  'Happy to help. What # should I use?',
  'What should the # be?',
  'One detail is missing: the #. What should it be?',
  'I still need the # for that. Could you give it to me?',
  'May I ask for the #?',
  'Of course. Could you let me know the #?',
  'The # is not clear to me yet. What should I use?',
] as const

const DETAILS = [
  'Sure, I can help with that. Could you give me #?',
  'Gladly. For that I need #.',
  'Of course. Please tell me #.',
  'I can do that. What I need is #.',
  'Could you be a bit more specific? I would need #.',
  'Certainly. Could you tell me # first?',
  'No problem. Before I start, I need to know #.',
] as const
const OPEN_QUESTIONS = [
  'Sure, I can help with that. What exactly would you like me to do?',
  'Of course. Could you tell me a bit more about it?',
  'Gladly. Could you give me the details?',
  'I can look into that. What precisely do you need?',
  'Happy to help. What are the details?',
] as const

/** The assistant asks for one value, or for all that is missing. */
export function question({ server, tool }: Ask, field: string | undefined, { random }: Moment): string {
  const what = (name: string): string => askedFor(server, tool, name).split(',')[0]!
  if (field === undefined) {
    const required = Object.entries(tool.input.shape).filter(([, schema]) => !schema.isOptional())
    const wanted = required.map(([name]) => `the ${what(name)}`)
    return wanted.length === 0 || wanted.length > 4
      ? random.pick(OPEN_QUESTIONS)
      : random.pick(DETAILS).replace('#', listed(wanted))
  }
  const words = what(field)
  const text = random.pick(QUESTIONS).replace('#', words)
  const choices = choicesOf(tool, field)
  if (choices.length < 2 || choices.length > 6 || !random.chance(0.6)) return text
  return `${text} ${random.pick(['It can be #.', 'The options are #.', 'You can choose #.', 'Possible are #.']).replace('#', listed(choices, 'or'))}`
}

const FAILURES = [
  'That did not work: #',
  'I am afraid that is not possible. #',
  'Unfortunately, this failed: #',
  'Sorry, I could not do that. #',
  'I tried, but it was refused: #',
  'This cannot be done right now. #',
  'That did not go through. #',
  'There is a problem: #',
] as const
const OFFERS = [
  'Would you like to try something else?',
  'How would you like to proceed?',
  'Should I try it another way?',
  'Would you like to change something?',
  'Do you want to use something different, or leave it?',
  'Let me know what I should do instead.',
  'What would you like me to do?',
  'I can try again with other details, or leave it as it is.',
  'Tell me if you want to change it.',
] as const

/** Says that a call failed, in the world's own words, and leaves the decision to the user. */
export function failure(_ask: Ask, message: string, { random }: Moment): string {
  const stopped = /[.!?]$/.test(message) ? message : `${message}.`
  return `${random.pick(FAILURES).replace('#', () => stopped)} ${random.pick(OFFERS)}`
}

const REFUSALS = [
  'I am sorry, but I have no tool for that.',
  'That is beyond what my tools can do.',
  'I cannot help with that: none of my tools is made for it.',
  'Unfortunately, I have nothing here that could do this.',
  'I do not have a way to do that with the tools at hand.',
  'Sorry, none of the tools I have covers that.',
  'I would like to help, but there is no tool for that here.',
  'That is not something I can do in this place; I lack the tool for it.',
  'No tool of mine can do that, I am afraid.',
  'My tools do not reach that far, sorry.',
  'For that I would need a tool that I do not have.',
  'I am not able to do that: it is outside what I have been given to work with.',
] as const
const INSTEAD = [
  'Is there anything else I can do for you?',
  'Let me know if there is something else.',
  'I am happy to help with what my tools are for.',
  'Please tell me if you need something else.',
  '',
  '',
  '',
] as const

const RESTS = [
  'For the rest I have no tool here.',
  'What is left I cannot do: there is no tool for it among mine.',
  'That is as far as I get. The last part needs a tool that I do not have.',
  'I am afraid the last part is beyond my tools.',
  'The rest I have to leave to you; none of my tools does that.',
  'Unfortunately I have nothing that could do the last thing you asked for.',
  'I could not do the last part, since I lack a tool for it.',
  'As for the rest, my tools do not cover that.',
] as const

export function declineRest({ random }: Moment): string {
  return `${random.pick(RESTS)} ${random.pick(INSTEAD)}`.trim()
}

export function decline({ random }: Moment): string {
  return `${random.pick(REFUSALS)} ${random.pick(INSTEAD)}`.trim()
}

import { isOptional, meaningOf, type SeededRandom } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { askedFor, choicesOf, isNameAsKey, listed, nameOf } from './field-words.js'
import { PEOPLE } from './referring.js'
import type { Ask, Moment } from './speech.js'
import { thingMade } from './thing-made.js'
import { goalsOf } from './tool-goals.js'

/** Questions for one missing value, by what it is. `#` stands for its name. The first row that fits is taken. */
const QUESTIONS: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /\b(date|day)$/,
    ['For which #?', 'Sure. Which # should it be?', 'Which # do you have in mind?', 'What # should I use?'],
  ],
  [/^end date$/, ['Until when?', 'Until which day?', 'Sure. What # should it be?']],
  [/\btime$/, ['At what time?', 'What # would suit you?', 'Sure. Which # should it be?']],
  [/^(amount|limit|budget)$/, ['How much should it be?', 'What # should it be?', 'Sure. How much?']],
  [
    /^(price|limit price|stop price|alert price|reserve)$/,
    ['At what price?', 'What # should it be?', 'Which # would you like?'],
  ],
  [/^number of (.+)$/, ['How many $1?', 'How many $1 should it be?', 'Sure. How many $1?']],
  [/^quantity$/, ['How many?', 'How many should it be?', 'Sure. How many would you like?']],
  [/^(old|new) text$/, ['What is the #?', 'Could you tell me the #?', 'Sure. What is the #?']],
  [
    /^(search term|search phrase|pattern|keyword)$/,
    ['What should I search for?', 'Sure. Which # should I use?', 'What # should I look for?'],
  ],
  [/^description$/, ['What should the description say?', 'Which # should I enter?']],
  [/ name$/, ['Under which name?', 'Which # should I put down?', 'Could you tell me the #?']],
  [/^PIN$/, ['What is the PIN?', 'I need the PIN for that. What is it?', 'Could you tell me the PIN?']],
  [
    /\b(mode|gear|state|folder|status|priority|zone|fare)$/,
    ['Which # should it be?', 'Sure. Which # would you like?', 'Which # do you want?'],
  ],
  [
    /^/,
    [
      'Which # would you like?',
      'Which # do you mean?',
      'Could you tell me the #?',
      'I need one more thing: which # is it?',
      'Sure. Which #?',
      'Of course. Could you let me know the #?',
    ],
  ],
]

const WHICH = ['Which # would you like?', 'Which # do you mean?', 'Which # should it be?', 'Sure. Which #?'] as const
const CHOOSING = ['Which # would you like?', 'Which # should it be?', 'Which # do you want?', 'Sure. Which #?'] as const
const SOUGHT = ['What should I search for?', 'What should I look for?', 'Sure. What should I look for?'] as const
/** What is to be written, of the thing that will say it. */
const WRITING = ['What should the # say?', 'Sure. What should the # say?', 'What would you like the # to say?'] as const
/** Names that something new is given or somebody has, what one has that is new or there already, and those by which something is found. */
const NAMING = [
  'What should the # be called?',
  'Sure. What should the # be called?',
  'What name should the # have?',
] as const
const NAMED = ['What is the name of the #?', 'Sure. What is the # called?'] as const
const NAMES = ['Which # should it be?', 'What # do you have in mind?', 'Sure. Which #?'] as const
const FINDING = ['What is the # that I should look for?', 'Sure. What #?', 'Which # should I look for?'] as const

function questionFor(words: string, field: string, ask: Ask, random: SeededRandom): string {
  const { tool } = ask
  if (meaningOf(itemAt(tool.input.shape, field)).entity !== undefined) return random.pick(WHICH).replace('#', words)
  const looks = tool.annotations.readOnly
  if (words === 'subject' && !looks) return 'What should the subject be?'
  if (/^(name|title|new name|subject)$/.test(words)) {
    const thing = looks ? undefined : thingMade(ask, field)
    if (thing !== undefined) return random.pick(PEOPLE.has(thing) ? NAMED : NAMING).replace('#', thing)
    return random.pick(looks ? FINDING : NAMES).replace('#', words)
  }
  if (/^(text|comment|instruction|note|body)$/.test(words) && !looks)
    return random.pick(WRITING).replace('#', thingMade(ask, field) ?? words)
  if (looks && /^(text|search term|search phrase|pattern|keyword)$/.test(words)) return random.pick(SOUGHT)
  const [pattern, forms] = QUESTIONS.find(([fits]) => fits.test(words))!
  const [, counted = ''] = pattern.exec(words) ?? []
  return random.pick(forms).replace('#', words).replace('$1', counted)
}

/** What an assistant asks for at once: more would be read out like a form. */
const MAX_WANTED = 2

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
export function question(ask: Ask, field: string | undefined, moment: Moment): string {
  const { random } = moment
  const { environment, tool } = ask
  const what = (name: string): string => itemAt(askedFor(environment, tool, name).split(','), 0)
  if (field === undefined) {
    const required = Object.entries(tool.input.shape).filter(([, schema]) => !isOptional(schema))
    const wanted = required.map(([name]) => `the ${what(name)}`)
    if (required.length === 1) return question(ask, itemAt(required, 0)[0], moment)
    return wanted.length === 0 || wanted.length > MAX_WANTED
      ? random.pick(OPEN_QUESTIONS)
      : random.pick(DETAILS).replace('#', listed(wanted))
  }
  const words = what(field)
  const choices = choicesOf(tool, field)
  const asked = choices.length > 1 ? random.pick(CHOOSING).replace('#', words) : questionFor(words, field, ask, random)
  // What comes after an answer does not begin another one.
  const text = moment.goesOn ? asked.replace(/^(?:Sure|Of course)\. /, '') : asked
  // What was found may leave fewer of them.
  if (choices.length < 2 || choices.length > 6 || moment.goesOn || moment.turn > 0) return text
  return `${text} ${random.pick(['It can be #.', 'The options are #.', 'You can choose #.']).replace('#', listed(choices, 'or'))}`
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
/** After what was done of the same request. */
const LAST_FAILURES = [
  'The last part did not work: #',
  'The rest was refused: #',
  'But one thing failed: #',
  'Only the last part was not possible. #',
] as const
const OFFERS = [
  'How should I go on?',
  'How would you like to proceed?',
  'What do you want to do about it?',
  'Tell me how you want to go on.',
  'Let me know what I should do instead.',
  'What would you like me to do?',
] as const

/** Says that a call failed, in the environment's own words but for keys that are names, and leaves the decision to the user. */
export function failure({ args }: Ask, message: string, { random, goesOn }: Moment): string {
  const keys = Object.values(args).filter((value): value is string => typeof value === 'string' && isNameAsKey(value))
  const stated = keys.reduce((text, key) => text.replaceAll(key, nameOf(key)), message)
  const stopped = /[.!?]$/.test(stated) ? stated : `${stated}.`
  return `${random.pick(goesOn ? LAST_FAILURES : FAILURES).replace('#', () => stopped)} ${random.pick(OFFERS)}`
}

const REFUSALS = [
  'I am sorry, but I have no tool for that.',
  'That is beyond what my tools can do.',
  'I cannot help with that: none of my tools is made for it.',
  'Unfortunately, I have nothing here that could do this.',
  'I do not have a way to do that with the tools at hand.',
  'Sorry, none of the tools I have covers that.',
  'I would like to help, but there is no tool for that here.',
  'That is not something I can do here; I lack the tool for it.',
  'No tool of mine can do that, I am afraid.',
  'My tools do not reach that far, sorry.',
  'For that I would need a tool that I do not have.',
  'I am not able to do that: it is outside what I have been given to work with.',
] as const
const INSTEAD = [
  'Is there anything else I can do for you?',
  'Let me know if there is something else.',
  'I am happy to help with something else.',
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

/** `#` stands for what was wanted, as `freeze a card`. */
const REFUSALS_OF = [
  'I am sorry, but I cannot # here: I have no tool for it.',
  'I am afraid I have no tool to #.',
  'To # I would need a tool that I do not have.',
  'Sorry, there is no tool among mine to #.',
  'I would gladly help you, but with the tools I have I cannot #.',
  'Unfortunately I am not able to #; that needs a tool that is missing here.',
  'I have looked through my tools: none of them lets me #.',
] as const
const RESTS_OF = [
  'I could not do the rest, because I have no tool to #.',
  'For the rest I lack a tool: I cannot #.',
  'What I cannot do is the last part: I have no tool to #.',
  'That is as far as I get: none of my tools lets me #.',
  'The last part is missing, since I have no tool here to #.',
] as const
/** Share of the refusals that say what cannot be done. */
const SPECIFIC = 0.55

/** Nobody says no twice in the same words: the turns of a conversation share the forms out. */
const pickFor = (turn: number, forms: readonly string[], random: SeededRandom): string =>
  random.pick(forms.filter((_, i) => i % 3 === turn % 3))

function refusal(plain: readonly string[], named: readonly string[], { random, turn }: Moment, ask?: Ask): string {
  const [goal] = ask === undefined ? [] : goalsOf(ask)
  const said =
    goal !== undefined && random.chance(SPECIFIC)
      ? pickFor(turn, named, random).replace('#', () => ofYours(goal))
      : pickFor(turn, plain, random)
  return `${said} ${random.pick(INSTEAD)}`.trim()
}

/** What the user calls mine is yours to the assistant. */
const ofYours = (goal: string): string =>
  goal
    .replace(/^see /, 'show you ')
    .replaceAll(/\bmine\b/g, 'yours')
    .replaceAll(/\bmy\b/g, 'your')
    .replaceAll(/\bme\b/g, 'you')
    .replaceAll(/\bI am\b/g, 'you are')
    .replaceAll(/\bI\b/g, 'you')
    .replaceAll(/\bour\b/g, 'your')
    .replaceAll(/\bwe\b/g, 'you')

export const declineRest = (moment: Moment, ask?: Ask): string => refusal(RESTS, RESTS_OF, moment, ask)

const ONCE_MORE = [
  'I have looked again, and no tool of mine can do it.',
  'I am sorry, but there is no way to do it with the tools that I have.',
  'It really is not possible: the tool for it is missing here.',
  'I checked once more, and it is still beyond my tools.',
  'I went through my tools again, and none of them gets you there.',
  'I wish I could, but there really is no tool for it here.',
] as const

/** Says no to a user who insists. */
export const declineOnceMore = ({ random }: Moment): string => random.pick(ONCE_MORE)

export const decline = (moment: Moment, ask?: Ask): string => refusal(REFUSALS, REFUSALS_OF, moment, ask)

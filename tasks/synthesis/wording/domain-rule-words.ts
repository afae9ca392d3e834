import { type DeclineRule, questionOf } from '../../../servers/kernel/index.js'
import type { RuledStep } from '../ruled-step.js'
import type { Moment, Persona } from './speech.js'

type Forms = Readonly<Record<Persona['register'], readonly string[]>>

/** `#` stands for the reason. */
const DECLINED = [
  'I am sorry, but I may not do that. #',
  'That is against the rules I have to keep to. #',
  'I am afraid I cannot do that for you. #',
  'My rules do not allow that, sorry. #',
  'Unfortunately that is not allowed. #',
  'I have to say no to that. #',
  'Sorry, I must not do that. #',
] as const
/** The same after something else was done. */
const REST_DECLINED = [
  'The last thing you asked for I may not do. #',
  'As for the last part, I have to say no. #',
  'The last part I cannot do for you. #',
  'What comes last is against the rules I have to keep to. #',
  'Unfortunately the last thing is not allowed. #',
] as const
const DECLINED_AGAIN = [
  'I understand, but I may not make an exception. #',
  'I am sorry, the rule has no exceptions. #',
  'I wish I could, but the answer stays the same. #',
  'Even so I must not do it. #',
  'There is nothing I can do about it, I am afraid. #',
] as const
const ASKED = [
  'Before I do that, a question. #',
  'One moment before I do it. #',
  'I have to ask first. #',
  'Let me ask you first. #',
  '#',
  '#',
] as const
const REST_ASKED = [
  'Before I do the last part, a question. #',
  'One question before the last thing you asked for. #',
  'As for the last part, I have to ask first. #',
] as const
const LEFT = [
  'All right, I leave it as it is.',
  'Fine, nothing has been changed.',
  'Understood, I have not done it.',
  'Of course. I leave it, then.',
  'No problem, I will not do it.',
] as const

const AGREED: Forms = {
  terse: ['yes', 'yes, go ahead', 'yep, do it', 'go ahead', 'sure, do it'],
  plain: ['Yes, please.', 'Yes, go ahead.', 'Yes, that is right.', 'Go ahead, please.', 'Yes, please do.'],
  polite: [
    'Yes, please go ahead.',
    'Thank you for asking. Yes, please do.',
    'Yes, I would like that. Please go on.',
    'That is right, please go ahead.',
  ],
  chatty: ['Yes, go for it!', 'Yep, all good, go ahead.', 'Sure thing, please do!', "Yes yes, that's what I want."],
}
const WITHDRAWN: Forms = {
  terse: ['no, leave it', 'hm no, forget it', 'better not', 'no, drop that'],
  plain: [
    'No, leave it, please.',
    'On second thoughts, no.',
    'No, forget about it.',
    'Hm, better not, then.',
    'No, I have changed my mind.',
  ],
  polite: [
    'On reflection, please leave it.',
    'Thank you for asking. No, I would rather not.',
    'No, please leave everything as it is.',
  ],
  chatty: [
    "Hmm, no, let's not.",
    'Oh, when you put it like that: no, leave it!',
    'Actually no, scrap that.',
    "Nah, I've changed my mind.",
  ],
}
const INSISTED: Forms = {
  terse: ['just this once?', 'cmon, do it anyway', 'no exception?', 'please, its important'],
  plain: [
    'Can you not make an exception?',
    'Please do it all the same.',
    'It is important. Can you do it anyway?',
    'Nobody will mind, please just do it.',
    'But I am allowed to decide that myself, so please do it.',
  ],
  polite: [
    'I understand, but could you make an exception this once?',
    'Would you kindly do it all the same? It matters to me.',
    'I am sorry to insist, but I really need this done.',
  ],
  chatty: [
    'Oh come on, just this once?',
    "Ah, rules. Can't you look the other way for me?",
    'Pretty please? I promise nobody will complain.',
    'They let me do it last week, so go on, please!',
  ],
}

/** The assistant declines what a rule forbids and says why, or asks for what it wants confirmed. */
export function answerToRuled({ rule, args }: RuledStep, { random, goesOn = false }: Moment): string {
  if (rule.demand === 'decline') return random.pick(goesOn ? REST_DECLINED : DECLINED).replace('#', () => rule.reason)
  return random.pick(goesOn ? REST_ASKED : ASKED).replace('#', () => questionOf(rule, args))
}

/** The assistant declines once more. */
export const declineAgain = ({ reason }: DeclineRule, { random }: Moment): string =>
  random.pick(DECLINED_AGAIN).replace('#', () => reason)

/** The assistant leaves what the user took back. */
export const leave = ({ random }: Moment): string => random.pick(LEFT)

const inRegister =
  (forms: Forms) =>
  ({ persona, random }: Moment): string =>
    random.pick(forms[persona.register])

export const agree = inRegister(AGREED)
export const withdraw = inRegister(WITHDRAWN)
/** The user does not take a rule for an answer. */
export const insistOnRuled = inRegister(INSISTED)

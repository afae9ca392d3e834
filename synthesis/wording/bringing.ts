import type { Moment, Persona } from './speech.js'

const BRINGING: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: [
    'try now, more tools',
    'added a tool. again please',
    'new tool there now, go on',
    'you should have it now',
    'ok gave you one more, do it',
  ],
  plain: [
    'You have another tool now. Please try again.',
    'I have added what was missing. What about now?',
    'There is a tool for it now. Can you finish it?',
    'I asked for the missing tool to be added. Does it work now?',
    'You can use more tools now. Please do the rest.',
    'It should be possible now, please go on.',
  ],
  polite: [
    'Thank you for telling me. I have had the missing tool added; would you please try once more?',
    'I see. You should be able to do it now, with what has been added. Would you mind?',
    'You now have one more tool at hand. Could you kindly do what was left?',
    'I have arranged for what you were missing. May I ask you to try again?',
  ],
  chatty: [
    'Good news, I got you another tool! Can you give it another go?',
    'Okay, they switched something on for you. How about now?',
    'Ah, that was it. You have got it now, so please go ahead!',
    "Right, I've added a tool for that. Let's try again!",
  ],
}

/** The user brings what was missing, and says nothing new of what is wanted. */
export const bring = ({ persona, random }: Moment): string => random.pick(BRINGING[persona.register])

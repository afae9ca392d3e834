import type { Moment, Persona } from './speech.js'

const BRINGING: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: [
    'try now',
    'should work now, again please',
    'you should have it now',
    'got you access, go on',
    'works now, try again',
  ],
  plain: [
    'You should be able to do it now. Please try again.',
    'I asked for access, and you have it now. How about now?',
    'It should work now. Can you try again?',
    'I have had that switched on for you. Does it work now?',
    'It should be possible now, please go on.',
    'I have got you access to that. Please go ahead.',
  ],
  polite: [
    'Thank you for telling me. You should be able to do it now; would you please try once more?',
    'I see. It should be possible now. Would you mind trying again?',
    'I have had that enabled for you. Could you kindly try again?',
    'I have arranged access for you. May I ask you to try again?',
  ],
  chatty: [
    'Good news, you should be able to do that now! Can you give it another go?',
    'Okay, it should work by now. How about another try?',
    'Okay, I had that sorted out for you, so please go ahead!',
    "Right, I've got you access to that. Let's try again!",
  ],
}

/** The user brings what was missing, and says nothing new of what is wanted. */
export const bring = ({ persona, random }: Moment): string => random.pick(BRINGING[persona.register])

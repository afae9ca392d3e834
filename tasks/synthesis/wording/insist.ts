import type { Moment, Persona } from './speech.js'

const DOUBTS: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: ['really no way?', 'no workaround at all?', 'hm, and some other way?', 'check again please'],
  plain: [
    'Are you sure there is no way to do it?',
    'Is there really nothing you can do about it?',
    'Could you check again whether that is possible?',
    'I thought that you could do this. Can you look again?',
    'Maybe there is another way to get it done?',
    'That is a pity. Is there any way around it?',
    'Nothing at all?',
  ],
  polite: [
    'I am sorry to insist, but is there really no way to do it?',
    'Would you mind checking once more whether it can be done?',
    'Thank you for telling me. Might there be another way, though?',
    'Could you kindly check again?',
    'I understand. Is there perhaps another way to do it?',
  ],
  chatty: [
    "Oh come on, there must be some way, isn't there?",
    'Hmm, can you have another look?',
    'Really? I was so sure you could. Can you check again?',
    'Ah, bummer. Nothing at all that gets me there?',
    "That's odd. Is there really nothing you can do?",
  ],
}

/** The user does not take no for an answer, and says nothing new. */
export const insist = ({ persona, random }: Moment): string => random.pick(DOUBTS[persona.register])

import type { Moment, Persona } from './speech.js'

const DOUBTS: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: [
    'really no way?',
    'sure?',
    'no workaround at all?',
    'try anyway',
    'hm, and some other way?',
    'check again please',
  ],
  plain: [
    'Are you sure there is no way to do it?',
    'Is there really nothing you can do about it?',
    'Could you check again whether that is possible?',
    'I was told that you can do this. Can you look again?',
    'Maybe there is another way to get it done?',
    'That is a pity. Is there any way around it?',
    'Please try it all the same.',
  ],
  polite: [
    'I am sorry to insist, but is there really no way to do it?',
    'Would you mind looking once more whether it can be done?',
    'Thank you for telling me. Might there be another way, though?',
    'Could you kindly check again? It worked for a colleague of mine.',
    'I understand. Is there perhaps some part of it that you could do?',
  ],
  chatty: [
    "Oh come on, there must be some way, isn't there?",
    'Hmm, my neighbour swears it works. Can you give it another go?',
    'Really? I was so sure you could. Can you check again?',
    'Ah, bummer. Nothing at all that gets me there?',
    "That's odd, I thought that was the whole point. Sure about it?",
  ],
}

/** The user does not take no for an answer, and says nothing new. */
export const insist = ({ persona, random }: Moment): string => random.pick(DOUBTS[persona.register])

import {
  type Environment,
  meaningOf,
  requiredReferences,
  type SeededRandom,
  speechOf,
  type ToolDefinition,
  withChoices,
} from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { greeting } from './connectives.js'
import { lead } from './contexts.js'
import { plural, withArticle } from './field-words.js'
import { leaks } from './request.js'
import type { Ask, Moment, Persona } from './speech.js'
import { word } from './text-span.js'
import { mannerOf, typed } from './typing-manner.js'
import { goalsFor } from './ways.js'

/**
 * Says what the call is for, from the tool's own words, and leaves every detail out.
 * @param refused  whether the request is refused; an assistant that has only heard what it is about could not refuse it
 */
export function vague({ environment, tool, args }: Ask, moment: Moment, refused = false): string | undefined {
  const { random, persona, turn } = moment
  const manner = mannerOf(persona)
  const goals = goalsFor({ environment, tool }, moment)
  const doing = tool.annotations.readOnly ? 'looks' : 'changes'
  for (let attempt = 0; attempt < 4; attempt++) {
    const opening = turn === 0 ? greeting(persona.register, random) : ''
    const context = turn === 0 && opening === '' ? lead(environment.name, doing, persona.register, random) : ''
    const worded = speechOf({ environment, tool }).goal !== undefined
    const way =
      goals.length > 0 && (refused || worded || random.chance(0.75)) ? goals[attempt % goals.length] : undefined
    const goal = way === undefined ? undefined : withChoices(way, (words) => random.pick(words))
    const understood = refused ? undefined : () => about(environment, tool, random)
    const wish =
      goal === undefined
        ? understood?.()
        : wished(goal, { looks: tool.annotations.readOnly, opened: context !== '' }, persona.register, random)
    if (wish === undefined) continue
    const sentence = opening.endsWith(', ') ? uncapitalised(wish) : wish
    if (/^Ok so/.test(opening) && /^so /i.test(sentence)) continue
    const said = context === '' ? opening + sentence : `${context} ${sentence}`
    if (Object.values(args).some((value) => leaks(said, value))) continue
    const out = itemAt(typed([word(said)], manner), 0).text
    return manner.unstopped ? out.replace(/\.$/, '') : out
  }
  return undefined
}

const uncapitalised = (text: string): string =>
  /^I\b/.test(text) ? text : itemAt(text, 0).toLowerCase() + text.slice(1)

const WISHES: Readonly<Record<Persona['register'], readonly string[]>> = {
  terse: [
    ...['need to #', 'i need to #', 'can you # for me?', 'can you help me #?', 'i want to #'],
    ...['help me #', 'looking to #', 'could you # for me?', 'trying to #'],
  ],
  plain: [
    'I want to #.',
    'I need to #.',
    "I'd like to #.",
    'Can you # for me?',
    'Can you help me #?',
    'Could you # for me?',
    'I have to #.',
    'Please help me #.',
    "I'd like you to # for me.",
    "I'm trying to #.",
    "I'm looking to #.",
    'I was hoping to #.',
    'Would you # for me?',
    'Are you able to # for me?',
  ],
  polite: [
    'I would like to #, please.',
    'Could you please help me #?',
    'Would you help me #, please?',
    'I would like to #, if that is possible.',
    'May I ask you to # for me?',
    'I wanted to ask whether you could help me #.',
    'Would you be able to # for me?',
    'I need some help: I would like to #.',
    'I was hoping to #.',
    'It would be great if you could # for me.',
    'Please could you # for me?',
    'I wonder whether you could # for me.',
    'Might you be able to help me #?',
  ],
  chatty: [
    'I need to #, can you help?',
    'Any chance you could # for me?',
    'Can you help me out? I want to #.',
    'I was thinking I should #. Can you do that?',
    "It's about time to #, I think. Would you do that for me?",
    'I keep meaning to #. Could you help me with that?',
    "I'd like to # now, if you don't mind.",
    'You can # for me, right?',
    "I'm trying to #, could you give me a hand?",
    'Think you could # for me?',
    "So I'm looking to #. Any help?",
    "I'd love it if you could # for me.",
  ],
}

/** Nobody puts a look-up off. */
const PUT_OFF = /about time|keep meaning|was thinking|have to/

/** What somebody wishes for and nobody does: "help me know where it is" would be no sentence. */
const STATE = /^(?:know|have|be|hear) /
const WISHED_FOR = /(?:want|need|like|hoping) to #/

/** Nobody is "looking to look at" something. */
const REPEATED: readonly (readonly [goal: RegExp, form: RegExp])[] = [
  [/^look /, /looking to #/],
  [/^try /, /trying to #/],
]

/** Begins by asking for help before it says with what. */
const OPENING = /^(?:I need some help|Can you help me out)\b/

/** Whether it is the user who does what the goal says. */
const isOwn = (form: string): boolean => !/you (?:can |to )?#|could #|able to #/i.test(form)

/** @param opened  a reason was given already, which is opening enough */
export function wished(
  goal: string,
  { looks, opened }: { readonly looks: boolean; readonly opened: boolean },
  register: Persona['register'],
  random: SeededRandom,
): string {
  // "Could you see ... for me" and "for a customer for me" are no sentences.
  const fits = (form: string): boolean =>
    !(looks && PUT_OFF.test(form)) &&
    !(opened && OPENING.test(form)) &&
    !REPEATED.some(([said, asked]) => said.test(goal) && asked.test(form)) &&
    (!STATE.test(goal) || WISHED_FOR.test(form)) &&
    (/^(see|know|go through) /.test(goal) ? isOwn(form) : true) &&
    !(/ for | that I | I have\b/.test(goal) && /for me/.test(form))
  const form = random.pick(WISHES[register].filter(fits))
  const own = isOwn(form)
  const said = own
    ? goal
        .replace(/^show /, 'see ')
        .replace(/^list /, random.pick(['see ', 'go through ', 'list ']))
        .replace(/^tell (?=what|which|who|how|whether|where|when)/, 'find out ')
    : goal
  const text = form.replace('#', () => said)
  return itemAt(text, 0).toUpperCase() + text.slice(1)
}

/** What it is about, where the tool's own words do not make a wish. */
function about(environment: Environment, tool: ToolDefinition, random: SeededRandom): string | undefined {
  const field = requiredReferences(tool.input)[0]?.[0]
  const entity = field === undefined ? undefined : meaningOf(itemAt(tool.input.shape, field)).entity
  const noun = entity === undefined ? undefined : environment.entities[entity]?.noun
  if (noun === undefined) return undefined
  return random.pick([
    `I need help with ${withArticle(noun)}.`,
    `Can you help me with one of the ${plural(noun)}?`,
    `It's about ${withArticle(noun)}.`,
    `I have a request about one of the ${plural(noun)}.`,
    `I have a question about ${withArticle(noun)}.`,
  ])
}

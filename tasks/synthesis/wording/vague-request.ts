import { withChoices } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { capitalised, uncapitalised } from './english.js'
import { mannerOf, typed } from './persona.js'
import type { Ask, Moment } from './speech.js'
import { word } from './text-span.js'
import { goalsFor } from './tool-phrases.js'
import { greeting, phrasesOf, reasonFor } from './user-phrases.js'
import { leaks } from './user-request.js'

/** Draws before a goal is found that says none of the values. */
const TRIES = 4

/** Says what the call is for, by one of the tool's goals, and leaves every detail out. `undefined` where the tool has no such goal. */
export function vague({ environment, tool, args }: Ask, moment: Moment): string | undefined {
  const { random, turn } = moment
  const manner = mannerOf(moment.persona)
  const goals = goalsFor({ environment, tool }, moment)
  if (goals.length === 0) return undefined
  const doing = tool.annotations.readOnly ? 'looks' : 'changes'
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const opening = turn === 0 ? greeting(moment) : ''
    const reason = turn === 0 && opening === '' ? reasonFor(environment.name, doing, moment) : ''
    const goal = withChoices(itemAt(goals, attempt % goals.length), (words) => random.pick(words))
    const wish = wished(goal, { looks: tool.annotations.readOnly, opened: reason !== '' }, moment)
    const sentence = opening.endsWith(', ') ? uncapitalised(wish) : wish
    if (/^Ok so/.test(opening) && /^so /i.test(sentence)) continue
    const said = reason === '' ? opening + sentence : `${reason} ${sentence}`
    if (Object.values(args).some((value) => leaks(said, value))) continue
    const out = itemAt(typed([word(said)], manner), 0).text
    return manner.unstopped ? out.replace(/\.$/, '') : out
  }
  return undefined
}

/** Goals and wishes that do not go together: "for a customer for me" is no sentence. */
const MISFITS: readonly (readonly [goal: RegExp, wish: RegExp])[] = [
  // Nobody is "looking to look at" something.
  [/^look /, /looking to #/],
  [/^try /, /trying to #/],
  // What somebody wishes for and nobody does: "help me know where it is".
  [/^(?:know|have|be|hear) /, /^(?!.*(?:want|need|like|hoping) to #)/],
  [/ for | that I | I have\b/, /for me/],
]
/** Nobody puts a look-up off. */
const PUT_OFF = /about time|keep meaning|was thinking|have to/
/** Begins by asking for help before it says with what. */
const OPENING = /^(?:I need some help|Can you help me out)\b/

/** Whether it is the user who does what the goal says. */
const isOwn = (wish: string): boolean => !/you (?:can |to )?#|could #|able to #/i.test(wish)

/** @param opened  a reason was given already, which is opening enough */
export function wished(
  goal: string,
  { looks, opened }: { readonly looks: boolean; readonly opened: boolean },
  { persona, random }: Pick<Moment, 'persona' | 'random'>,
): string {
  const fits = (wish: string): boolean =>
    !(looks && PUT_OFF.test(wish)) &&
    !(opened && OPENING.test(wish)) &&
    !MISFITS.some(([goals, wishes]) => goals.test(goal) && wishes.test(wish)) &&
    // "Could you see ... for me" is no sentence.
    (!/^(see|know|go through) /.test(goal) || isOwn(wish))
  const wish = random.pick(phrasesOf('wish', persona.register).filter(fits))
  if (!isOwn(wish)) return capitalised(wish.replace('#', () => goal))
  const own = goal
    .replace(/^show /, 'see ')
    .replace(/^list /, random.pick(['see ', 'go through ', 'list ']))
    .replace(/^tell (?=what|which|who|how|whether|where|when)/, 'find out ')
  return capitalised(wish.replace('#', () => own))
}

import { asksFor } from '../../../rollout/episode/index.js'
import { itemAt } from '../item-at.js'
import type { Brief, Need, TurnBrief } from './brief.js'
import type { Objection, Problem } from './errors.js'
import { areOpposite, directionAt, invertedIn } from './opposites.js'
import { inventionsIn, phraseFor, placeOf } from './phrases.js'

/** Texts of one exchange. */
export interface TurnWords {
  readonly user: string
  readonly assistant: string
}

/** Most reported problems of one reply; more would not help the next attempt. */
const MOST_PROBLEMS = 12

/** Returns the objections to the model's words for an example; empty if they are acceptable. */
export function problemsIn(words: readonly TurnWords[], brief: Brief): Problem[] {
  if (words.length !== brief.turns.length)
    return [{ kind: 'wrong_turns', detail: `there are ${brief.turns.length} turns, and the reply has ${words.length}` }]
  const problems = words.flatMap((turn, i) => {
    const draft = itemAt(brief.turns, i)
    const form = [...formOf('user', turn, draft), ...formOf('assistant', turn, draft)]
    // What has no proper form, or no end, is not looked into.
    const findings =
      form.length > 0 ? form : [...objectionsToUser(turn.user, draft, brief), ...objectionsToAnswer(turn, draft, brief)]
    return findings.map(([kind, detail]) => ({ kind, detail: `turn ${i + 1}: ${detail}`.slice(0, 300) }))
  })
  if (problems.length === 0 && isUnchanged(words, brief))
    return [{ kind: 'unchanged', detail: 'the words are those of the draft' }]
  return problems.slice(0, MOST_PROBLEMS)
}

/** Largest length of a text in characters: that of the draft times the factor, and more for each speaker. */
const LENGTH = { factor: 3, user: 160, assistant: 240, most: 4000 } as const

type Finding = readonly [Objection, string]

/** Controls, invisible and private characters, and what stands for characters that could not be read; not line ends. */
const ODD = /[\p{Co}\p{Cf}\p{Cs}\uFFFD]|(?!\n)\p{Cc}/u
const FOREIGN = /(?!\p{Script=Latin})\p{L}/gu
const MARKUP =
  /<[/|!?]?[a-z_|][^>]{0,80}>|<\||\|>|\[\/?INST\]|<<|>>|```|\*\*|^#{1,6} |[{}]|^ *(?:user|assistant|system|human|ai|tool)\s*:/gim
const OUT_OF_CHARACTER =
  /\bas an? (?:ai|artificial|large language|language) ?(?:model|assistant|intelligence)?\b|\blanguage model\b|\b(?:paraphras|rephras|rewrit)\w*/i

function formOf(who: 'user' | 'assistant', words: TurnWords, turn: TurnBrief): Finding[] {
  const [text, draft] = [words[who], turn[who]]
  const say = (kind: Objection, detail: string): Finding => [kind, `the ${who}'s words ${detail}`]
  const most = Math.min(draft.length * LENGTH.factor + LENGTH[who], LENGTH.most)
  if (!/[\p{L}\p{N}]/u.test(text)) return [say('too_short', 'are empty')]
  if (text.length > most) return [say('too_long', `have ${text.length} characters, and at most ${most} are wanted`)]
  const findings: Finding[] = []
  if (ODD.test(text)) findings.push(say('odd_characters', 'hold control or invisible characters'))
  const foreign = [...text.matchAll(FOREIGN)].find(([letter]) => !draft.includes(letter))
  if (foreign) findings.push(say('odd_characters', `hold the letter ${foreign[0]}, which is not of the draft's script`))
  const markup = [...text.matchAll(MARKUP)].find(([mark]) => !draft.includes(mark))
  if (markup) findings.push(say('markup', `hold the markup ${JSON.stringify(markup[0].slice(0, 40))}`))
  if (OUT_OF_CHARACTER.test(text) && !OUT_OF_CHARACTER.test(draft))
    findings.push(say('out_of_character', 'speak of the one who writes them'))
  return findings
}

function objectionsToUser(text: string, turn: TurnBrief, brief: Brief): Finding[] {
  if (turn.frozen && text !== turn.user)
    return [['missing_phrase', `the user's words must stay exactly ${JSON.stringify(turn.user)}`]]
  return [
    ...missing(text, turn.needs),
    ...reordered(text, turn),
    ...turnedAround(text, turn.needs),
    ...objectionsToEither('user', text, turn, brief),
  ]
}

function objectionsToAnswer({ user, assistant }: TurnWords, turn: TurnBrief, brief: Brief): Finding[] {
  const findings: Finding[] = turn.reports
    .filter((fact) => placeOf(assistant, fact) < 0 && !assistant.includes(`"${fact}"`))
    .map((fact) => ['missing_phrase', `the assistant must say ${JSON.stringify(fact)}`])
  if (turn.assistant.includes('?') && !assistant.includes('?'))
    findings.push(['no_question', 'the assistant must ask a question'])
  if (turn.asksFor && !asksFor(assistant, turn.asksFor))
    findings.push(['other_question', `the assistant must ask for the ${turn.asksFor[0]}`])
  findings.push(...objectionsToEither('assistant', assistant, turn, brief))
  if (plain(user) === plain(assistant)) findings.push(['echo', 'the assistant repeats the user'])
  return findings
}

/** Beginnings of the objections to words that a speaker must not say, and what the speaker knows. */
const FORBIDDEN = {
  user: { known: 'knownToUser', early: 'the user must not say', internal: 'the user does not know' },
  assistant: { known: 'knownToAssistant', early: 'the assistant cannot know', internal: 'the assistant must not say' },
} as const

function objectionsToEither(who: 'user' | 'assistant', text: string, turn: TurnBrief, brief: Brief): Finding[] {
  const { internal, early } = FORBIDDEN[who]
  const known = turn[FORBIDDEN[who].known]
  // "add it" must not become "remove it", nor "open" "close".
  const opposite = invertedIn(text, turn[who])
  const invented = inventionsIn(text, known).filter((fact) => !isNamedOtherwise(fact, turn))
  const named = (kind: Objection, what: readonly string[], before: string, after = ''): Finding[] =>
    what.map((one) => [kind, `${before}${JSON.stringify(one)}${after}`])
  return [
    ...named('inverted', opposite === undefined ? [] : [opposite], '', ' is the opposite of what the draft says'),
    ...named('withheld_value', withheld(text, known, turn, brief), `${early} `, ' yet'),
    ...named('internal_name', internals(text, known, brief), `${internal} `),
    ...named('invented', invented, `the ${who}'s draft does not say `),
  ]
}

const placeOfNeed = (text: string, { phrase, apart }: Need): number =>
  apart ? placeOf(text, phrase) : text.indexOf(phrase)

function missing(text: string, needs: readonly Need[]): Finding[] {
  return needs
    .filter((need) => placeOfNeed(text, need) < 0)
    .map(({ phrase }) => ['missing_phrase', `the user must say exactly ${JSON.stringify(phrase)}`])
}

/** What is asked for first must stay first: "it" and "the second one" depend on what was said before. */
function reordered(text: string, { user, needs }: TurnBrief): Finding[] {
  const own = needs.filter(
    ({ call, phrase }) => call !== null && needs.every((other) => other.call === call || other.phrase !== phrase),
  )
  const calls = [...new Set(own.map(({ call }) => call))]
  const order = (words: string): (number | null)[] => {
    const first = (call: number | null): number =>
      Math.min(...own.filter((need) => need.call === call).map((need) => placeOfNeed(words, need)))
    return calls
      .map((call) => [call, first(call)] as const)
      .sort(([, a], [, b]) => a - b)
      .map(([call]) => call)
  }
  if (own.some((need) => placeOfNeed(text, need) < 0)) return []
  return order(user).join() === order(text).join() ? [] : [['reordered', 'the requests must keep their order']]
}

/** "from Savings to Checking" must not become "from Checking to Savings", nor "under 50" "over 50". */
function turnedAround(text: string, needs: readonly Need[]): Finding[] {
  return needs.flatMap((need): Finding[] => {
    const at = placeOfNeed(text, need)
    const now = at < 0 ? undefined : directionAt(text, at)
    if (now === undefined || need.direction === undefined || !areOpposite(need.direction, now)) return []
    return [['turned_around', `the draft says "${need.direction} ${need.phrase}" and not "${now} ${need.phrase}"`]]
  })
}

function withheld(text: string, known: string, turn: TurnBrief, { today }: Brief): string[] {
  return turn.withheld
    .filter(({ value, phrase }) => {
      const given = placeOf(text, phrase) >= 0 && placeOf(known, phrase) < 0
      return given || (phraseFor(text, value, today) !== undefined && phraseFor(known, value, today) === undefined)
    })
    .map(({ phrase }) => phrase)
}

/** Names as programs write them, and the keys of this conversation. */
const SNAKE = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g

/** Whether something that the draft does not say has a more telling objection already. */
function isNamedOtherwise(fact: string, { withheld: later }: TurnBrief): boolean {
  return (
    fact.match(SNAKE) !== null || later.some(({ phrase }) => placeOf(phrase.toLowerCase(), fact.toLowerCase()) >= 0)
  )
}

function internals(text: string, known: string, { keys }: Brief): string[] {
  const names = [...text.matchAll(SNAKE)].map(([name]) => name).filter((name) => placeOf(known, name) < 0)
  return [...new Set([...keys.filter((key) => placeOf(text, key) >= 0), ...names])]
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** At least one user turn has to be put differently, where one may be. */
function isUnchanged(words: readonly TurnWords[], { turns }: Brief): boolean {
  const free = turns.some(({ frozen }) => !frozen)
  return words.every(({ user, assistant }, i) => {
    const draft = itemAt(turns, i)
    return plain(user) === plain(draft.user) && (free || plain(assistant) === plain(draft.assistant))
  })
}

import { itemAt, lastOf } from '../item-at.js'
import { compared } from './superlatives.js'
import type { SeenCall, ShownList, Thing, Transcript } from './transcript.js'

/** Words of a user that stand for a thing, where they were said, and what they are said for. */
export interface Mention {
  readonly turn: number
  /** Where in the user's turn the words begin. */
  readonly at: number
  readonly words: string
  /** Place in the ground truth of the call that needs the thing. */
  readonly call: number
  /** Kind of thing that the call needs, and what people call such a thing. */
  readonly entity: string
  readonly noun: string
}

/**
 * Finds what a user means as a listener does. It uses the words, what was said before them, and the results that the
 * assistant has when it makes the call. The user cannot point at a thing that occurs only in a result that was not
 * reported to the user.
 * @returns the key of the one thing that is meant; `undefined` where no thing or more than one is meant
 */
export function resolve(mention: Mention, transcript: Transcript): string | undefined {
  const before = callsBefore(mention, transcript)
  const words = mention.words.toLowerCase()
  const called = byLabel(mention, before) ?? byFirstName(mention, before)
  if (called !== undefined) return called
  const measure = compared(words, mention.noun)
  if (measure) {
    const list = listMeant(mention, before, transcript, { unseen: true, cut: false })
    return list && onlyKey(measure(list.map(({ row }) => row)).map((i) => itemAt(list, i)))
  }
  const place = ordinalIn(words)
  if (place !== undefined) {
    const list = listMeant(mention, before, transcript, { unseen: place === 'first', cut: place !== 'last' })
    return place === 'first' ? list?.[0]?.key : place === 'last' ? list?.at(-1)?.key : list?.[place - 1]?.key
  }
  return lastMentioned(mention, before, transcript)
}

interface Placed {
  readonly turn: number
  readonly call: SeenCall
}

/**
 * The calls whose results the assistant has when it makes the call, the oldest first. What one of them says of a name
 * is known of the thing wherever it turns up.
 */
function callsBefore({ call: wanted }: Mention, { turns }: Transcript): Placed[] {
  const all = turns.flatMap(({ calls }, turn) => calls.map((call) => ({ turn, call })))
  const at = all.findIndex(({ call }) => call.truth === wanted)
  const before = at < 0 ? [] : all.slice(0, at)
  const known = new Map(
    before.flatMap(({ call }) =>
      [...call.named, ...call.shown].flatMap(({ entity, key, label }): [string, string][] =>
        label === undefined ? [] : [[`${entity} ${key}`, label]],
      ),
    ),
  )
  const withLabel = (thing: Thing): Thing => ({
    ...thing,
    label: thing.label ?? known.get(`${thing.entity} ${thing.key}`),
  })
  return before.map(({ turn, call }) => ({
    turn,
    call: { ...call, named: call.named.map(withLabel), shown: call.shown.map(withLabel) },
  }))
}

const ofKind = (entity: string, things: readonly Thing[]): Thing[] => things.filter((thing) => thing.entity === entity)

function onlyKey(things: readonly Thing[]): string | undefined {
  const keys = new Set(things.map(({ key }) => key))
  return keys.size === 1 ? itemAt(things, 0).key : undefined
}

/** The thing that is called by its name, or by a key that people say. The longest name that fits is the one that is said. */
function byLabel({ words, entity, noun }: Mention, before: readonly Placed[]): string | undefined {
  const known = ofKind(
    entity,
    before.flatMap(({ call }) => [...call.shown, ...call.named]),
  )
  const fittingBy = (nameOf: (thing: Thing) => string | undefined) =>
    known.flatMap((thing) => {
      const name = nameOf(thing)
      return name !== undefined && holdsName(words, name) ? [{ name, thing }] : []
    })
  const owning = fittingBy(({ label }) => label)
  // "The Museum order thread" is the thread beside that name, though it may be the name of an email.
  const fitting = owning.length > 0 || !words.includes(noun) ? owning : fittingBy(({ nameBeside }) => nameBeside)
  const longest = Math.max(0, ...fitting.map(({ name }) => name.length))
  return onlyKey(fitting.filter(({ name }) => name.length === longest).map(({ thing }) => thing))
}

/** Somebody who is called by the first of two names, where no other of that kind has it. */
function byFirstName({ words, entity }: Mention, before: readonly Placed[]): string | undefined {
  if (!/^\p{Lu}\p{Ll}+$/u.test(words)) return undefined
  const known = ofKind(
    entity,
    before.flatMap(({ call }) => [...call.shown, ...call.named]),
  )
  return onlyKey(known.filter(({ label }) => label?.startsWith(`${words} `)))
}

/** Returns whether a text contains a name as separate words. */
export function holdsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0 && name !== ''; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + name.length] ?? ' ']
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true
  }
  return false
}

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

function ordinalIn(words: string): number | 'first' | 'last' | undefined {
  const numbered = /\b(\d{1,2})(?:st|nd|rd|th)\b/.exec(words)?.[1]
  const place = numbered === undefined ? ORDINALS.findIndex((word) => new RegExp(`\\b${word}\\b`).test(words)) : -1
  const nth = numbered === undefined ? place + 1 : Number(numbered)
  if (nth === 1) return 'first'
  if (nth > 1) return nth
  return /\blast\b/.test(words) ? 'last' : undefined
}

/**
 * The list in which a place or a comparison is meant: that of the newest result which lists such things. Of a list that
 * the user has not been shown yet, they can order to look at what comes first or goes farthest, but they cannot stake
 * anything on it. What is last or goes farthest in a list of which a part is shown, nobody can tell.
 */
function listMeant(
  mention: Mention,
  before: readonly Placed[],
  transcript: Transcript,
  fits: { readonly unseen: boolean; readonly cut: boolean },
): Thing[] | undefined {
  const { entity, turn } = mention
  const found = before.findLast(({ call }) => call.lists.some(({ entries }) => entries.length > 0))
  if (!found) return undefined
  const [list, ...others] = found.call.lists.filter((one) => listOf(one, entity).length > 0)
  if (!list || others.length > 0 || list.entries.some((entry) => ofKind(entity, entry).length > 1)) return undefined
  if (list.cut && !fits.cut) return undefined
  const things = listOf(list, entity)
  if (found.turn < turn) return isShown(things, found.turn, transcript) ? things : undefined
  const wanted = callNamed(mention, transcript)
  return fits.unseen && !list.cut && wanted?.readOnly ? things : undefined
}

const listOf = ({ entries }: ShownList, entity: string): Thing[] => entries.flatMap((entry) => ofKind(entity, entry))

function callNamed({ call: wanted }: Mention, { turns }: Transcript): SeenCall | undefined {
  return turns.flatMap(({ calls }) => calls).find(({ truth }) => truth === wanted)
}

/** Whether the assistant told of every one of the things, in this order. */
function isShown(things: readonly Thing[], turn: number, { turns, userSeesResults }: Transcript): boolean {
  if (userSeesResults) return true
  const stated = itemAt(turns, turn).assistant
  let from = 0
  return things.every(({ label, key }) => {
    const places = [label, key].flatMap((name) => (name === undefined ? [] : [stated.indexOf(name, from)]))
    const at = Math.min(...places.filter((place) => place >= 0))
    from = at + 1
    return Number.isFinite(at)
  })
}

/** `it`, `that card`, `the new draft`: the thing of its kind that was spoken of last. */
function lastMentioned(mention: Mention, before: readonly Placed[], transcript: Transcript): string | undefined {
  const { entity, turn, noun } = mention
  const pronoun = /^(it|them|that one)$/.test(mention.words.toLowerCase())
  if (!pronoun && !mention.words.toLowerCase().includes(lastOf(noun.split(' ')))) return undefined
  for (let i = before.length - 1; i >= 0; i--) {
    const { call, turn: then } = itemAt(before, i)
    const things = ofKind(entity, [...call.named, ...call.shown])
    if (things.length === 0) {
      // A pronoun reaches back to what was just done, no farther, but past what is looked up for the call itself.
      if (pronoun && !isLookedUpFor(callNamed(mention, transcript), call)) return undefined
      continue
    }
    if (then >= turn) {
      const made = / new /.test(mention.words) && !call.readOnly
      return pronoun || made || isAnnounced(things, mention, transcript) ? onlyKey(things) : undefined
    }
    const understood = things.filter((thing) => isUnderstood(thing, then, transcript))
    if (understood.length > 0) return onlyKey(understood)
  }
  return undefined
}

/** Whether a call is given a thing that a look-up shows. */
const isLookedUpFor = (wanted: SeenCall | undefined, { readOnly, shown }: SeenCall): boolean =>
  readOnly && (wanted?.named ?? []).some(({ entity, key }) => ofKind(entity, shown).some((thing) => thing.key === key))

/** Whether somebody has said what a thing is called, up to the end of a turn. */
function isUnderstood({ label, key }: Thing, until: number, { turns, userSeesResults }: Transcript): boolean {
  if (userSeesResults) return true
  return turns
    .slice(0, until + 1)
    .some(({ user, assistant }) =>
      [label, key].some((name) => name !== undefined && (holdsName(user, name) || holdsName(assistant, name))),
    )
}

/** Whether such a thing has been spoken of before a call brings it up: by name, or as what is looked for. */
function isAnnounced(things: readonly Thing[], { turn, at, noun }: Mention, { turns }: Transcript): boolean {
  const said = [
    ...turns.slice(0, turn).flatMap(({ user, assistant }) => [user, assistant]),
    itemAt(turns, turn).user.slice(0, at),
  ].join('\n')
  if (things.some(({ label, key }) => [label, key].some((name) => name !== undefined && holdsName(said, name))))
    return true
  const head = lastOf(noun.split(' ')).replace(/y$|f$/, '')
  return new RegExp(`\\b${head}`, 'i').test(said) || (/person$/.test(noun) && /\bpeople\b/i.test(said))
}

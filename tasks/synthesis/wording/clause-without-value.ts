import { itemAt } from '../item-at.js'
/**
 * Rewords a clause so that one of its values is not said. The phrase that gives the value is dropped where the rest is complete without it.
 * Returns `undefined` where that would not sound right: people who leave something out do not say "something" instead.
 */
export function clauseWithout(clause: string, field: string): string | undefined {
  const mark = `{${field}}`
  const at = clause.indexOf(mark)
  if (at < 0 || clause.indexOf(mark, at + 1) >= 0) return undefined
  const quoted = clause[at - 1] === '"'
  const before = clause.slice(0, quoted ? at - 1 : at)
  const after = clause.slice(at + mark.length + (quoted ? 1 : 0))
  const reworded = withoutTail(before, after, quoted) ?? withoutAdjective(before, after)
  return reworded
    ?.replaceAll(/ {2,}/g, ' ')
    .replaceAll(/ ,/g, ',')
    .replaceAll(/\ba (?=[aeio])/g, 'an ')
    .trim()
}

/** The last preposition before the value, with the words between: ` with the title `, `, lasting `. */
const TAIL =
  /(?:,| and)? (with|at|on|for|in|to|by|as|from|until|under|within|about|titled|called|named|saying|that says|so that it says|using|lasting|reference|subject|text|priority|format|price|due|quantity|stop|amount)((?: (?:the|a|an|my|its))?(?: [a-z]+){0,2}?) $/
const FUNCTION_WORDS =
  /\b(of|with|at|on|for|in|to|by|as|from|until|under|within|about|that|and|is|are|was|be|than|most)\b/
const UNITS =
  /^ (minutes|percent open|percent brightness|percent|degrees|points|stars|of 5 stars|of five stars|out of five stars|out of five|km\/h|packs|spans|shares|dates|occurrences|days|times in all|times|nights|bags|euros|priority|folder|department|program|status|mode|discount|a day|ahead|shipping|order)(?=$|[ ,])/
const BOUNDARY =
  /^($|,| (and|with|at|on|for|in|to|by|as|of|from|until|under|within|about|before|so|that|when|saying|titled|called|named|after|beneath|again|now)\b)/
/** What waits for something: no sentence ends there. */
const WAITING =
  /\b(a|an|the|my|is|are|was|and|or|at most|no more than|than|up|be|stops|expires|ends|lasts|costs|begins|differs?|compares?|nearest|closest|next|above|below|over|spent|paid|charged|tagged|packed|zipped|written|installed|booked|counts|counted|points|runs|belongs?|missing|valid|close|away|trip|come|takes part|people|good|pointing|who banks|take place|(?:have|put a copy of|mark me for) \{[a-z_]+\}|reachable|automated|and ask|and pay|it|us|posted|up to date|updated|(?:metres|kilometres|far) it is from \{[a-z_]+\}|mark me|take me|add me|alert me|should it fall|, delivered)$/
/** A verb with one thing alone, which is not what the request was about: `append "..."`, `ask Ana`. */
const BARE = /^(?:[a-z]+ "\{[a-z_]+\}"|(?:add|ask|give) \{[a-z_]+\}(?: with .*)?)$/
/** What is looked for or counted, once its name is gone. */
const NAMELESS =
  /^(?:show|count) (?:the )?lines\b|^(?:search|look around) the map\b|^find out how many lines\b|^list the differences\b|\b(?:there is|we have) an? [a-z]+$/
/** What cannot follow a gap: the other half of a pair, or words about what is missing. */
const HALF = /^(?: and (?:the |its )?[a-z]+ "?\{| of | as | so far\b)/
/** Verbs that are about the new value: `set that light` alone would be no sentence. */
const CHANGING =
  /^(set|put|turn|switch|make|change|mark|move|bring|adjust|shift|let|give|keep|place|close|record|enter|reprice|amend|raise|cap|size) (?:\{[a-z_]+\}|the [a-z ]+)$/

function withoutTail(before: string, after: string, quoted: boolean): string | undefined {
  const tail = TAIL.exec(before)
  if (!tail || FUNCTION_WORDS.test(itemAt(tail, 2))) return undefined
  const rest = after.replace(UNITS, '')
  // "Use the PIN 1234" is not all of "use the PIN 1234 to unlock the door".
  if (tail[1] === 'to' && /^ (?!(?:the|a|an|my|its)\b)[a-z]/.test(itemAt(tail, 2))) return undefined
  // "Beneath it" would mean something else.
  if (!BOUNDARY.test(rest) || HALF.test(rest) || /\b(it|them|there)\b/.test(rest)) return undefined
  const kept = before.slice(0, tail.index)
  // What is left must still say what is to be done: a verb and its object.
  if (!kept.includes(' ') || [WAITING, BARE, NAMELESS].some((hole) => hole.test(kept))) return undefined
  // "The colleague named Ana" is some colleague without the name.
  const stripped = /^(called|named|titled)$/.test(itemAt(tail, 1))
    ? kept.replace(/\bthe ([a-z]+(?: [a-z]+)?)(?<!s)$/, 'a $1')
    : kept
  if (/^(set|put) the \{|\bput the [a-z ]+$/.test(kept)) return undefined
  if (CHANGING.test(kept) && !quoted) return undefined
  // Who leaves out to what something is to be set wants it changed.
  return stripped.replace(/^set (the|my) /, 'change $1 ') + rest
}

/** `my {kind} accounts` says enough without the adjective. */
function withoutAdjective(before: string, after: string): string | undefined {
  if (!/\b(my|the|all|a|which|their|our)( other)? $/.test(before)) return undefined
  // Without the word that tells which, "the zone" is none, and "a fare" is any.
  if (/\bthe $/.test(before) && !/^ (?:[a-z]+s|free seats|route|sales team)\b/.test(after)) return undefined
  if (/\ba $/.test(before) && /^ (?:fare|minute|no|at|more)\b/.test(after)) return undefined
  if (
    !/^ (?!in\b|to\b|at\b|on\b|of\b|for\b|with\b|called\b|titled\b|named\b|by\b|from\b|under\b|into\b|as\b|that\b|which\b|and\b|or\b|is\b|are\b|was\b|has\b|percent\b|close\b|can\b|around\b|near\b|beside\b)[a-z]/.test(
      after,
    )
  )
    return undefined
  return before + after.trimStart()
}

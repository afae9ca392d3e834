import { claimsFrom, claimsFromJson, claimsIn, isAddress, isName } from './claims.js'
import { leavesOf, readText, statesValue } from './facts.js'
import type { Json, LoggedCall, RolloutFacts, ScoredExample } from './types.js'

/** The stated facts and the invented claims in an assistant's texts. */
export interface StatedAndInvented {
  /** Mean over the user's turns of the share of facts that the answer states. The share is 0 if the answer is missing or empty. */
  readonly stated: number
  /** Names of stated claims (numbers, dates, names, addresses) without a source. */
  readonly invented: ReadonlySet<string>
}

/**
 * Finds the stated facts and the invented claims in a rollout's texts. The sources of claims are the system message, the user's turns and
 * ground-truth arguments so far, and results. A result is no source of the addresses and names in its own call's arguments. The result of
 * a failed call is no source of any claim in them. Otherwise a search for `evil.example` would make that address known.
 */
export function checkWords(
  example: ScoredExample,
  log: readonly LoggedCall[],
  facts: Pick<RolloutFacts, 'results' | 'said'>,
): StatedAndInvented {
  const { turns = [''], asked = [], isGeneral = false } = example
  const spoken = turns.map(() => false)
  const stated = turns.map(() => new Set<string>())
  const invented = new Set<string>()
  const knowledge = createUserKnowledge(example, log, facts)
  for (const { turn, calls, isAnswer, text } of facts.said) {
    knowledge.advanceTo(turn, calls)
    const understood = readText(text)
    for (const claim of understood.claims)
      if (!knowledge.given.has(claim) && (!isGeneral || isAddress(claim))) invented.add(claim)
    if (!isAnswer) continue
    if (understood.words.trim() !== '') spoken[turn] = true
    for (const { value } of asked.filter((fact) => fact.turn === turn)) {
      if (knowledge.values.has(value) && statesValue(understood, value)) stated[turn]!.add(value)
    }
  }
  const shares = turns.map((_, turn) => {
    const wanted = asked.filter((fact) => fact.turn === turn).length
    if (!spoken[turn]) return 0
    return wanted === 0 ? 1 : stated[turn]!.size / wanted
  })
  return { stated: shares.reduce((sum, share) => sum + share, 0) / turns.length, invented }
}

/** The knowledge of a user at a point of a rollout. */
interface UserKnowledge {
  /** Names of the claims with a source. */
  readonly given: ReadonlySet<string>
  /** Texts and numbers from the results of successful calls. */
  readonly values: ReadonlySet<string>
  /** Adds the sources up to a user turn and the first `calls` logged calls. */
  advanceTo(turn: number, calls: number): void
}

function createUserKnowledge(
  { system = '', turns = [''], groundTruth }: ScoredExample,
  log: readonly LoggedCall[],
  { results }: Pick<RolloutFacts, 'results'>,
): UserKnowledge {
  const given = claimsFrom(system)
  const values = new Set<string>()
  let [nextTurn, nextCall] = [0, 0]
  const give = (claims: Iterable<string>): void => {
    for (const claim of claims) given.add(claim)
  }
  const addResult = (call: LoggedCall, text: string): void => {
    const result = parsed(text)
    const own = call.malformed ? claimsIn(call.raw) : claimsFromJson(call.arguments)
    const succeeded = !call.malformed && call.ok
    give([...claimsFromJson(result)].filter((claim) => !own.has(claim) || (succeeded && !isName(claim))))
    if (succeeded) for (const value of leavesOf(result)) values.add(value)
  }
  return {
    given,
    values,
    advanceTo(turn, calls) {
      for (; nextTurn <= turn && nextTurn < turns.length; nextTurn++) {
        give(claimsFrom(turns[nextTurn]!))
        for (const truth of groundTruth.filter((each) => (each.turn ?? 0) === nextTurn))
          give(claimsFromJson(truth.arguments))
      }
      for (; nextCall < calls && nextCall < log.length; nextCall++) addResult(log[nextCall]!, results[nextCall] ?? '')
    },
  }
}

/** Parses a result; a result that is not JSON counts as a text. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

import type { Catalogue } from '../../rollout/episode/index.js'
import { areaUnderCurve } from './area-under-curve.js'
import type { Example } from './example.js'
import { markdownTable, percent } from './markdown.js'

/** Results of word matching on held-out tasks, without a model. */
export interface Baselines {
  /** Number of held-out tasks with calls. */
  readonly heldOut: number
  readonly results: readonly BaselineResult[]
  /** How well the number of words separates tasks with calls from tasks without; absent if one of both kinds is missing. */
  readonly lengths?: LengthAuc
}

/**
 * Area under the ROC curve of the number of words, for tasks with calls against tasks without. 0.5: the number of words contains no
 * information.
 */
export interface LengthAuc {
  /** By the words of the first user turn. */
  readonly first: number
  /** By the words of all user turns. */
  readonly all: number
}

export interface BaselineResult {
  readonly name: string
  /** Share of the tasks whose whole tool sequence is predicted. */
  readonly sequences: number
  /** Share of the clauses whose tool is predicted, over turns with as many clauses as calls. */
  readonly clauses: number
}

/** Collects examples of all splits, in any order. */
export interface BaselineCheck {
  add(example: Example): void
  finish(): Baselines
}

/** Words of one clause of a request, without names and numbers. */
type Words = ReadonlySet<string>

interface LearnedClause {
  readonly words: Words
  readonly tool: string
}

interface HeldOutTask {
  /** Clauses and called tools, by user turn. */
  readonly turns: readonly { readonly clauses: readonly Words[]; readonly tools: readonly string[] }[]
  readonly offered: ReadonlySet<string>
}

/**
 * Creates a check with two baselines that predict the tools of held-out tasks by words. `nearest clause` predicts the offered tool of the
 * most similar training clause. `names and descriptions` predicts the offered tool with the most similar name and description. Rare words have
 * a higher weight.
 */
export function createBaselineCheck(catalogue: Catalogue): BaselineCheck {
  const learned: LearnedClause[] = []
  const heldOut: HeldOutTask[] = []
  const lengths = { withCalls: emptyLengths(), withoutCalls: emptyLengths() }
  return {
    add({ split, task, exchanges }) {
      countWords(task.groundTruth.length > 0 ? lengths.withCalls : lengths.withoutCalls, exchanges)
      if (task.groundTruth.length === 0 || split === 'validation') return
      const turns = exchanges.map(({ user, calls }) => ({
        clauses: clausesOf(user),
        tools: calls.flatMap(({ truth, name }) => (truth === null ? [] : [name])),
      }))
      if (split === 'held-out') {
        heldOut.push({ turns, offered: new Set(task.toolset.map(({ tool }) => tool)) })
        return
      }
      for (const { clauses, tools } of turns) {
        // Clauses match calls only where their numbers are equal.
        if (clauses.length === tools.length)
          for (const [i, words] of clauses.entries()) learned.push({ words, tool: tools[i]! })
      }
    },
    finish() {
      const described = [...catalogue.values()].flatMap(({ tools }) =>
        tools.map(({ name, description }) => ({
          words: wordsOf(`${name.replaceAll('_', ' ')} ${description}`),
          tool: name,
        })),
      )
      const { withCalls, withoutCalls } = lengths
      const hasBoth = withCalls.first.length > 0 && withoutCalls.first.length > 0
      return {
        heldOut: heldOut.length,
        ...(hasBoth
          ? {
              lengths: {
                first: areaUnderCurve(withCalls.first, withoutCalls.first),
                all: areaUnderCurve(withCalls.all, withoutCalls.all),
              },
            }
          : {}),
        results: [
          resultOf('nearest clause of training', heldOut, matcherOf(learned)),
          resultOf('names and descriptions of tools', heldOut, matcherOf(described)),
        ],
      }
    },
  }
}

interface Lengths {
  readonly first: number[]
  readonly all: number[]
}

const emptyLengths = (): Lengths => ({ first: [], all: [] })

function countWords({ first, all }: Lengths, exchanges: Example['exchanges']): void {
  const [opening, ...later] = exchanges.map(({ user }) => user.split(/\s+/).filter((word) => word !== '').length)
  first.push(opening!)
  all.push(later.reduce((sum, words) => sum + words, opening!))
}

/** Returns the sentence for the data set card. */
export const describeLengthAuc = ({ first, all }: LengthAuc): string =>
  `Area under the ROC curve by which the number of words separates tasks with calls from tasks without: ${first.toFixed(2)} by the first user turn, ${all.toFixed(2)} by all user turns (0.5: no information).`

/** Returns the Markdown table for the data set card. */
export function baselineTable({ results }: Baselines): string {
  return markdownTable(
    ['matched with', 'whole tool sequences', 'tools of single clauses'],
    results.map(({ name, sequences, clauses }) => [name, percent(sequences), percent(clauses)]),
  )
}

type Matcher = (clause: Words, offered: ReadonlySet<string>) => string | undefined

/** Returns a function that finds the entry with the highest weighted cosine similarity to a clause; ties give the first entry. */
function matcherOf(entries: readonly LearnedClause[]): Matcher {
  const postings = new Map<string, number[]>()
  for (const [i, { words }] of entries.entries()) {
    for (const word of words) {
      const list = postings.get(word)
      if (list) list.push(i)
      else postings.set(word, [i])
    }
  }
  const weight = (word: string): number => Math.log((entries.length + 1) / ((postings.get(word)?.length ?? 0) + 1)) ** 2
  const lengthOf = (words: Words): number => Math.sqrt([...words].reduce((sum, word) => sum + weight(word), 0))
  const lengths = entries.map(({ words }) => lengthOf(words))
  return (clause, offered) => {
    const shared = new Map<number, number>()
    for (const word of clause) {
      for (const i of postings.get(word) ?? []) {
        if (offered.has(entries[i]!.tool)) shared.set(i, (shared.get(i) ?? 0) + weight(word))
      }
    }
    let best: number | undefined
    let most = 0
    for (const [i, sum] of shared) {
      const similarity = lengths[i] === 0 ? 0 : sum / lengths[i]!
      if (similarity > most || (similarity === most && best !== undefined && i < best)) {
        best = i
        most = similarity
      }
    }
    return best === undefined ? undefined : entries[best]!.tool
  }
}

function resultOf(name: string, tasks: readonly HeldOutTask[], matches: Matcher): BaselineResult {
  let sequences = 0
  let clauses = 0
  let found = 0
  for (const { turns, offered } of tasks) {
    let whole = true
    for (const turn of turns) {
      const tools = turn.clauses.map((clause) => matches(clause, offered))
      // A clause without a similar entry predicts no call.
      if (tools.filter((tool) => tool !== undefined).join() !== turn.tools.join()) whole = false
      if (turn.clauses.length !== turn.tools.length) continue
      clauses += turn.tools.length
      found += turn.tools.filter((tool, i) => tool === tools[i]).length
    }
    if (whole) sequences++
  }
  return { name, sequences: sequences / tasks.length, clauses: clauses === 0 ? 0 : found / clauses }
}

/** Boundaries between two clauses of a request. */
const BREAKS =
  /[.;?!]+(?=\s|$)|,? \b(?:and )?(?:then|after that|afterwards|next)\b|,? and (?=[a-z]+ )|, (?=[a-z]+ (?:the|it|that|this|me|my)\b)/i
/** Shortest clause in words; shorter ones are greetings or fragments. */
const LEAST_WORDS = 2

function clausesOf(text: string): Words[] {
  return text
    .split(BREAKS)
    .map(wordsOf)
    .filter((words) => words.size >= LEAST_WORDS)
}

/** Returns lower-case words without common words and without endings of number and tense. */
function wordsOf(text: string): Words {
  const words = text.toLowerCase().match(/[a-z]{2,}/g) ?? []
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ing|ed|es|s)$/, '')))
}

const COMMON: ReadonlySet<string> = new Set(
  'the an and or of to in on at for with it its is are be me my you your that this please can could would will from by as so do'.split(
    ' ',
  ),
)

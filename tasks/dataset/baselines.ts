import type { Catalogue } from '../../rollout/episode/index.js'
import { areaUnderCurve } from './area-under-curve.js'
import type { Example } from './example.js'
import { markdownTable, percent } from './markdown.js'

/** How many held-out tasks are answered by matching words, without a model. */
export interface Baselines {
  /** Held-out tasks with calls. */
  readonly heldOut: number
  readonly results: readonly BaselineResult[]
  /** Whether the number of words tells tasks without calls from others; absent where there are none of either. */
  readonly lengths?: LengthsStated
}

/**
 * How often a task with calls has more words than one without, a tie counting half (area under the ROC curve): 0.5 where their number
 * tells nothing.
 */
export interface LengthsStated {
  /** Of the user's first turn. */
  readonly first: number
  /** Of all turns of the user together. */
  readonly all: number
}

export interface BaselineResult {
  readonly name: string
  /** Share of the tasks whose whole sequence of tools is found. */
  readonly sequences: number
  /** Share of the clauses, of those turns that have as many as calls, whose tool is found. */
  readonly clauses: number
}

/** Takes examples as they come, those for training before those that are held out or after. */
export interface BaselineCheck {
  add(example: Example): void
  finish(): Baselines
}

/** What a user asks for in one breath, without names and numbers. */
type Words = ReadonlySet<string>

interface LearnedClause {
  readonly words: Words
  readonly tool: string
}

interface HeldOutTask {
  /** Clauses and the tools that are called, by turn. */
  readonly turns: readonly { readonly clauses: readonly Words[]; readonly tools: readonly string[] }[]
  readonly offered: ReadonlySet<string>
}

/**
 * Two ways to find the tools of a held-out task by its words. `nearest clause`: each clause calls what the most similar clause of a training
 * turn called, of the tools on offer. `tool names`: each clause calls the tool on offer whose name and description share most with it.
 * Words are weighted by how rare they are among training clauses or tools.
 */
export function createBaselineCheck(catalogue: Catalogue): BaselineCheck {
  const learned: LearnedClause[] = []
  const heldOut: HeldOutTask[] = []
  const lengths = { calling: noLengths(), silent: noLengths() }
  return {
    add({ split, task, exchanges }) {
      countWords(task.groundTruth.length > 0 ? lengths.calling : lengths.silent, exchanges)
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
        // Which clause asks for which call is only known where there is one for each.
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
      const { calling, silent } = lengths
      const isEither = calling.first.length > 0 && silent.first.length > 0
      return {
        heldOut: heldOut.length,
        ...(isEither
          ? {
              lengths: {
                first: areaUnderCurve(calling.first, silent.first),
                all: areaUnderCurve(calling.all, silent.all),
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

const noLengths = (): Lengths => ({ first: [], all: [] })

function countWords({ first, all }: Lengths, exchanges: Example['exchanges']): void {
  const [opening, ...later] = exchanges.map(({ user }) => user.split(/\s+/).filter((word) => word !== '').length)
  first.push(opening!)
  all.push(later.reduce((sum, words) => sum + words, opening!))
}

/** In words, as a card says it. */
export const lengthsStated = ({ first, all }: LengthsStated): string =>
  `The number of words tells tasks with calls from those without, an area under the ROC curve of 0.5 telling nothing: ${first.toFixed(2)} by the user's first turn, ${all.toFixed(2)} by all turns together.`

/** In Markdown, as a card holds it. */
export function baselineTable({ results }: Baselines): string {
  return markdownTable(
    ['matched with', 'whole sequences of tools', 'tools of single clauses'],
    results.map(({ name, sequences, clauses }) => [name, percent(sequences), percent(clauses)]),
  )
}

type Matcher = (clause: Words, offered: ReadonlySet<string>) => string | undefined

/** Finds the entry that is most like a clause: the cosine of their words, weighted. Of equals the first wins. */
function matcherOf(entries: readonly LearnedClause[]): Matcher {
  const holders = new Map<string, number[]>()
  for (const [i, { words }] of entries.entries()) {
    for (const word of words) {
      const list = holders.get(word)
      if (list) list.push(i)
      else holders.set(word, [i])
    }
  }
  const weight = (word: string): number => Math.log((entries.length + 1) / ((holders.get(word)?.length ?? 0) + 1)) ** 2
  const lengthOf = (words: Words): number => Math.sqrt([...words].reduce((sum, word) => sum + weight(word), 0))
  const lengths = entries.map(({ words }) => lengthOf(words))
  return (clause, offered) => {
    const shared = new Map<number, number>()
    for (const word of clause) {
      for (const i of holders.get(word) ?? []) {
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
      // A clause that is like nothing calls nothing.
      if (tools.filter((tool) => tool !== undefined).join() !== turn.tools.join()) whole = false
      if (turn.clauses.length !== turn.tools.length) continue
      clauses += turn.tools.length
      found += turn.tools.filter((tool, i) => tool === tools[i]).length
    }
    if (whole) sequences++
  }
  return { name, sequences: sequences / tasks.length, clauses: clauses === 0 ? 0 : found / clauses }
}

/** Where one request ends and the next begins. */
const BREAKS =
  /[.;?!]+(?=\s|$)|,? \b(?:and )?(?:then|after that|afterwards|next)\b|,? and (?=[a-z]+ )|, (?=[a-z]+ (?:the|it|that|this|me|my)\b)/i
/** Fewer words than these are no request but a greeting, or the tail of one. */
const LEAST_WORDS = 2

function clausesOf(text: string): Words[] {
  return text
    .split(BREAKS)
    .map(wordsOf)
    .filter((words) => words.size >= LEAST_WORDS)
}

/** Words in lower case, without what stands in every sentence, and without endings of number and tense. */
function wordsOf(text: string): Words {
  const words = text.toLowerCase().match(/[a-z]{2,}/g) ?? []
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ing|ed|es|s)$/, '')))
}

const COMMON: ReadonlySet<string> = new Set(
  'the an and or of to in on at for with it its is are be me my you your that this please can could would will from by as so do'.split(
    ' ',
  ),
)

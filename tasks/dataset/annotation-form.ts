import { countOf } from '../../common/errors/index.js'
import { deriveSeed, seededRandom } from '../../servers/kernel/index.js'
import type { Example } from './example.js'
import { renderExample } from './inspect.js'

/** What a reader answers for each example, behind these words. */
export const VERDICT_LABEL = 'verdict (good, odd or wrong):'
export const REASON_LABEL = 'reason, if odd or wrong:'

const INSTRUCTIONS = `Read each example completely, as somebody who is to say whether a person would ask this and whether the calls answer it.
good:  a person could have said this, and the calls and answers do what was asked.
odd:   the calls are right, but no person would ask it so, for this, or in this order; or the words are not good English.
wrong: a call does something else than was asked, a reference means something else or nothing, or an answer tells what is not so.
What people are like (lower case, very polite, very short, chatty) and stock phrases of the assistant are not odd by themselves.
Judge before you look at another example, and change no verdict afterwards. Two readers need not agree: report both.`

/**
 * A stratified sample of a data set as text, with room for verdicts. Each kind, and within multi-turn each number of calls, takes turns, so
 * that rare ones are read too. The same examples, count and seed give the same text.
 * @param count  examples that are drawn; all, where there are fewer
 */
export async function annotationForm(examples: AsyncIterable<Example>, count: number, seed: number): Promise<string> {
  const strata = new Map<string, Example[]>()
  for await (const example of examples) {
    const { kind, groundTruth } = example.task
    const stratum = kind === 'multi-turn' ? `${kind}, ${countOf(groundTruth.length, 'call')}` : kind
    const list = strata.get(stratum)
    if (list) list.push(example)
    else strata.set(stratum, [example])
  }
  const random = seededRandom(deriveSeed('prove/reading/1', seed))
  const left = [...strata].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, list]) => random.shuffle(list))
  const drawn: Example[] = []
  for (let turn = 0; drawn.length < count && left.some((list) => list.length > 0); turn++) {
    const example = left[turn % left.length]!.pop()
    if (example) drawn.push(example)
  }
  const forms = drawn.map(
    (example, i) =>
      `--- ${i + 1} of ${drawn.length} ---\n\n${renderExample(example)}\n${VERDICT_LABEL}\n${REASON_LABEL}\n`,
  )
  return `${[INSTRUCTIONS, ...forms].join('\n\n')}\n`
}

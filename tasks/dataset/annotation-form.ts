import { countOf } from '../../common/errors/index.js'
import { deriveSeed, seededRandom } from '../../servers/kernel/index.js'
import type { Example } from './example.js'
import { renderExample } from './inspect.js'

/** Labels of the two lines that an annotator fills in for each example. */
export const VERDICT_LABEL = 'verdict (good, odd or wrong):'
export const REASON_LABEL = 'reason, if odd or wrong:'

const INSTRUCTIONS = `Read each example completely. Decide whether a person would make this request, and whether the calls fulfil it.
good:  a person could have said this, and the calls and answers do what the user requests.
odd:   the calls are right, but no person would phrase, request or order it like this; or the text is not good English.
wrong: a call does something else than requested, a reference is wrong or has no referent, or an answer states something untrue.
Personal style (lower case, very polite, very short, chatty) and stock phrases of the assistant are not odd by themselves.
Give a verdict before you read the next example, and do not change a verdict later. Two annotators may disagree: report both.`

/**
 * Returns an annotation form for a stratified sample of a data set. Strata are the kinds, and within multi-turn the numbers of calls. The
 * sample takes one example per stratum in turn, so it includes rare ones. The same examples, count and seed give the same form.
 * @param count  size of the sample; all examples if there are fewer
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

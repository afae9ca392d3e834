import { REASON_LABEL, VERDICT_LABEL } from './annotation-form.js'
import { DatasetError } from './errors.js'
import type { Kind } from './profile.js'
import { KINDS } from './statistics.js'

export const VERDICTS = ['good', 'odd', 'wrong'] as const
export type Verdict = (typeof VERDICTS)[number]

/** What one reader says of one example. */
export interface Annotation {
  readonly kind: Kind
  /** The task's id. */
  readonly task: string
  readonly verdict: Verdict
  /** Empty where the verdict is good. */
  readonly reason: string
}

/** Characters of a reason that are kept. */
const LONGEST_REASON = 400

const EXAMPLE = /^--- \d+ of \d+ ---$/m
const HEADING = /^(\S+) example \d+ \(\S+\), task ([0-9a-f]{64})$/m

/**
 * The verdicts in a sheet of `readingSheet` that somebody has filled in.
 * @param where  how messages call the sheet
 * @throws DatasetError `bad_form`: there is no example in it, or one without a verdict or without a reason for it
 */
export function annotationsIn(form: string, where: string): readonly Annotation[] {
  const parts = form.replaceAll('\r\n', '\n').split(EXAMPLE).slice(1)
  if (parts.length === 0)
    throw new DatasetError('bad_form', `${where}: it is no sheet of \`prove-lab dataset sample --for-annotation\`.`)
  return parts.map((part, i) => annotationIn(part, `${where}, example ${i + 1}`))
}

function annotationIn(part: string, where: string): Annotation {
  const refuse = (problem: string): never => {
    throw new DatasetError('bad_form', `${where}: ${problem}.`)
  }
  const [, kindName, task] = part.match(HEADING) ?? refuse('the line that names its task is missing')
  const kind = KINDS.find((name) => name === kindName) ?? refuse(`there are no examples of the kind ${kindName}`)
  const [, answers] = part.split(`\n${VERDICT_LABEL}`) as [string, string?]
  const [written = '', why = ''] = answers?.split(`\n${REASON_LABEL}`) ?? refuse('the line for the verdict is missing')
  const verdict =
    VERDICTS.find((name) => name === written.trim().toLowerCase()) ??
    refuse(`the verdict must be good, odd or wrong, not "${written.trim().slice(0, 40)}"`)
  const reason = verdict === 'good' ? '' : why.trim().replaceAll(/\s+/g, ' ')
  if (verdict !== 'good' && reason === '') refuse(`it is ${verdict}, and no reason is given`)
  return { kind, task: task!, verdict, reason: reason.slice(0, LONGEST_REASON) }
}

import { REASON_LABEL, VERDICT_LABEL } from './annotation-form.js'
import { DatasetError } from './errors.js'
import type { Kind } from './profile.js'
import { KINDS } from './statistics.js'

export const VERDICTS = ['good', 'odd', 'wrong'] as const
export type Verdict = (typeof VERDICTS)[number]

/** Annotation of one example by one annotator. */
export interface Annotation {
  readonly kind: Kind
  /** The task's id. */
  readonly task: string
  readonly verdict: Verdict
  /** Empty for the verdict `good`. */
  readonly reason: string
}

/** Most characters of a stored reason. */
const LONGEST_REASON = 400

const EXAMPLE = /^--- \d+ of \d+ ---$/m
const HEADING = /^(\S+) example \d+ \(\S+\), task ([0-9a-f]{64})$/m

/**
 * Parses a filled annotation form.
 * @param where  name of the form for messages
 * @throws DatasetError `bad_form` if the form has no example, or an example without a verdict or a required reason
 */
export function annotationsIn(form: string, where: string): readonly Annotation[] {
  const parts = form.replaceAll('\r\n', '\n').split(EXAMPLE).slice(1)
  if (parts.length === 0)
    throw new DatasetError('bad_form', `${where}: not a form of \`prove-lab dataset sample --for-annotation\``)
  return parts.map((part, i) => annotationIn(part, `${where}, example ${i + 1}`))
}

function annotationIn(part: string, where: string): Annotation {
  const refuse = (problem: string): never => {
    throw new DatasetError('bad_form', `${where}: ${problem}`)
  }
  const [, kindName, task] =
    part.match(HEADING) ?? refuse('the line with the task id is missing: restore it from the empty form')
  const kind =
    KINDS.find((name) => name === kindName) ?? refuse(`unknown kind ${kindName}: restore the line from the empty form`)
  const [, answers] = part.split(`\n${VERDICT_LABEL}`) as [string, string?]
  const [written = '', why = ''] =
    answers?.split(`\n${REASON_LABEL}`) ?? refuse('the line for the verdict is missing: restore it from the empty form')
  const verdict =
    VERDICTS.find((name) => name === written.trim().toLowerCase()) ??
    refuse(`the verdict must be good, odd or wrong, not "${written.trim().slice(0, 40)}"`)
  const reason = verdict === 'good' ? '' : why.trim().replaceAll(/\s+/g, ' ')
  if (verdict !== 'good' && reason === '') refuse(`the verdict is ${verdict} without a reason: add one`)
  return { kind, task: task!, verdict, reason: reason.slice(0, LONGEST_REASON) }
}

import { basename } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../common/errors/index.js'
import { DatasetError } from '../tasks/dataset/index.js'
import { linesOf } from '../tasks/dataset/jsonl-lines.js'
import { OBJECTIONS, objectionText } from '../tasks/synthesis/index.js'

/** Id of a candidate: index of the example, round and attempt. */
const CANDIDATE = /^\d+\.\d+\.\d+$/

/** A dropped candidate: its id, the objection, the plan as text, and the chain if the candidate had one. */
const rejectedCandidate = z.strictObject({
  id: z.string().regex(CANDIDATE),
  by: z.string(),
  plan: z.string(),
  chain: z.string().optional(),
})
export type RejectedCandidate = z.infer<typeof rejectedCandidate>

/** Returns a dropped candidate as a line of the file of `synthesize --rejected`. */
export const rejectedLine = (candidate: { readonly [K in keyof RejectedCandidate]: RejectedCandidate[K] }): string =>
  `${JSON.stringify(candidate)}\n`

/**
 * Describes a dropped candidate with its objection, one objection, or all of them.
 * @param id  id of a candidate, or name of an objection
 * @param file  file of `synthesize --rejected`, which a candidate needs
 * @throws UsageError if there is no such objection, or a candidate is named without the file; DatasetError `missing_file`,
 *   `damaged_record`, `no_such_candidate`
 */
export async function explained(id?: string, file?: string): Promise<string> {
  if (id === undefined || !CANDIDATE.test(id)) return objectionsText(id)
  if (file === undefined)
    throw new UsageError(
      'usage',
      `${id} is the id of a candidate: name the file of "synthesize --rejected" with --rejected`,
    )
  for await (const { text, where } of linesOf(file)) {
    const candidate = parsed(text, where)
    if (candidate.id !== id) continue
    const chain = candidate.chain === undefined ? [] : [`  chain: ${candidate.chain}`]
    return [
      `candidate ${id}`,
      `  plan: ${candidate.plan}`,
      ...chain,
      `dropped by ${objectionsText(candidate.by)}`,
    ].join('\n')
  }
  throw new DatasetError(
    'no_such_candidate',
    `${basename(file)} has no candidate ${id}: each line of the file begins with the id of one`,
  )
}

function objectionsText(name: string | undefined): string {
  const rows = OBJECTIONS.filter((row) => name === undefined || row.name === name)
  if (rows.length > 0) return `${rows.map(objectionText).join('\n\n')}\n`
  throw new UsageError(
    'usage',
    `there is no objection "${name}": use one of ${OBJECTIONS.map((row) => row.name).join(', ')}`,
  )
}

function parsed(text: string, where: string): RejectedCandidate {
  try {
    return rejectedCandidate.parse(JSON.parse(text))
  } catch (cause) {
    throw new DatasetError('damaged_record', `${where} is not a dropped candidate: make the file again`, { cause })
  }
}

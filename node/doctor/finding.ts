/** Grade of a finding. `unknown`: the check was not possible. */
export type Grade = 'ok' | 'warning' | 'problem' | 'unknown'

/** Result of a check. */
export interface Finding {
  readonly grade: Grade
  /** Description of the result. */
  readonly found: string
  /** Next step for the owner, if any. */
  readonly advice?: string
}

export const ok = (found: string, advice?: string): Finding => finding('ok', found, advice)
export const warning = (found: string, advice: string): Finding => finding('warning', found, advice)
export const problem = (found: string, advice: string): Finding => finding('problem', found, advice)
export const unknown = (found: string, advice?: string): Finding => finding('unknown', found, advice)

const finding = (grade: Grade, found: string, advice?: string): Finding =>
  advice === undefined ? { grade, found } : { grade, found, advice }

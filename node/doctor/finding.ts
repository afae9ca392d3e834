/** `unknown`: it could not be looked at, and says why. */
export type Grade = 'ok' | 'warning' | 'problem' | 'unknown'

/** What a look at the machine came to. */
export interface Finding {
  readonly grade: Grade
  /** In plain words. */
  readonly found: string
  /** What to do about it; left out where there is nothing to do. */
  readonly advice?: string
}

export const ok = (found: string, advice?: string): Finding => finding('ok', found, advice)
export const warning = (found: string, advice: string): Finding => finding('warning', found, advice)
export const problem = (found: string, advice: string): Finding => finding('problem', found, advice)
export const unknown = (found: string, advice?: string): Finding => finding('unknown', found, advice)

const finding = (grade: Grade, found: string, advice?: string): Finding =>
  advice === undefined ? { grade, found } : { grade, found, advice }

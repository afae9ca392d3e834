/** Checks of a re-derivation, in this order. The first check that fails ends it. */
export const REDERIVATION_CHECKS = [
  /** Signature and hashes of the published files. */
  'publication',
  /** The step continues from the version before it. */
  'parent',
  /** The settings of the trainer are those of the run configuration. */
  'settings',
  /** The groups of the batch are those whose verdicts are in the signed tree. */
  'membership',
  /** Leases and tasks follow from the secrets of their rounds. */
  'leases',
  /** A replay of every body gives the recorded rewards. */
  'rewards',
  /** The trainer got the batch that follows from the bodies. */
  'batch',
  /** The sampled tokens are those of the seeds, and groups were left out for a reason. */
  'draws',
  /** The trainer makes the published adapter and optimizer state of it. */
  'update',
] as const
export type RederivationCheck = (typeof REDERIVATION_CHECKS)[number]

/** The published version does not follow from its evidence. */
export class DoesNotFollow extends Error {
  readonly check: RederivationCheck
  /** Difference of both results, as a share of the norm of the update; undefined: nothing was computed. */
  readonly difference: number | undefined

  constructor(check: RederivationCheck, detail: string, difference?: number) {
    super(detail)
    this.check = check
    this.difference = difference
  }
}

/** Result of a check that did not fail. */
export interface PassedCheck {
  readonly check: RederivationCheck
  readonly detail: string
}

/** Result of the re-derivation of a version. */
export interface Rederivation {
  readonly version: number
  readonly manifestId: string
  readonly follows: boolean
  /** Checks that passed, in order. */
  readonly passed: readonly PassedCheck[]
  /** The first thing that does not follow; null: everything follows. */
  readonly fault: { readonly check: RederivationCheck; readonly detail: string } | null
  /** Norm of the difference of both adapters, divided by the norm of the published update; null: not computed. */
  readonly difference: number | null
}

/**
 * Largest difference of a step that was made again, as a share of the norm of the update. Other processors differ by up to 5.6e-6, and the
 * smallest lie that was measured, another parent step, by 0.68.
 */
export const DIFFERENCE_LIMIT = 1e-3
/** The same for the adapter that volunteers load, whose values are rounded to float16. */
export const ROUNDED_LIMIT = 1e-2

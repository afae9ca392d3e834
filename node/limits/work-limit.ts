/** Whether a limit allows work at the moment. */
export type Permit =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** Reason, as text after "paused:". */
      readonly why: string
      /** End of the pause, if known. */
      readonly untilMs?: number
      /** Whether the groups in progress are given back, because the machine is needed now. Otherwise they are finished. */
      readonly atOnce?: true
    }

/** A limit that may pause the node. It answers for the moment, so callers ask repeatedly. */
export interface WorkLimit {
  mayWork(): Permit
}

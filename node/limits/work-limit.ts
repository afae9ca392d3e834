/** Whether a limit lets the node work at this moment. */
export type Permit =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** In words that follow "resting:". */
      readonly why: string
      /** When it is known to end. */
      readonly untilMs?: number
      /** Somebody needs the machine now: the group in hand is given back. Otherwise it is finished. */
      readonly atOnce?: true
    }

/** One reason why a node may have to rest. It says what holds now; whoever asks asks again. */
export interface WorkLimit {
  mayWork(): Permit
}

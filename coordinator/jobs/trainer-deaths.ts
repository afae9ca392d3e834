import type { TrainerEvent } from './trainer-events.js'

/** Losses of ranks during one batch after which the batch is given up: so many are no coincidence. */
const MAX_LOSSES = 20
/** Idle time after which a start counts as good: the trainer was ended from outside. */
export const GOOD_START_MS = 60_000
/** Codes of `error` events that a restart cannot repair. */
const HOPELESS = /^(config|base|resume|device|step)_/
/** The same for machines that have trained before: their devices may come back later. */
const HOPELESS_FOR_ALL = /^(config|base|resume|step)_/
/** Codes of ranks that only report the loss of another rank. */
const BLAMELESS: readonly string[] = ['peer_lost', 'overtaken']

export type Fault = Pick<TrainerEvent, 'code' | 'message'>

/** End of one life of the trainer. */
export interface Death {
  /** Batch that it worked on; null: none. */
  readonly batchId: string | null
  readonly fault: Fault | null
  readonly lastedMs: number
  /** Whether it was ready at its newest complete step. */
  readonly wasReady: boolean
}

export interface Mortality {
  /** Deaths with one batch after which the batch is given up, and consecutive failed starts after which the trainer is. */
  readonly maxFailures: number
  /** Whether ranks run on other machines, which can be lost. */
  readonly onMachines: boolean
}

/** Consequence of a death: another life, one without that batch, or none. */
export type Consequence =
  | { readonly kind: 'again' | 'end' }
  | { readonly kind: 'without-batch'; readonly batchId: string; readonly times: number }

/** Returns the fault to blame among those that ranks reported. The first may only report the loss of another rank. */
export const toBlame = (faults: readonly Fault[]): Fault | null =>
  faults.find((fault) => !isBlameless(fault)) ?? faults[0] ?? null

const isBlameless = ({ code }: Fault): boolean => BLAMELESS.includes(code ?? '')

/** Counts the trainer's deaths and decides about their consequences. */
export class TrainerDeaths {
  readonly #limits: Mortality
  /** Deaths by batch. */
  readonly #deaths = new Map<string, number>()
  readonly #losses = new Map<string, number>()
  #badStarts = 0
  #hasBeenReady = false

  constructor(limits: Mortality) {
    this.#limits = limits
  }

  noteReady(): void {
    this.#hasBeenReady = true
  }

  /** Forgets a batch with an outcome. */
  forget(batchId: string): void {
    this.#deaths.delete(batchId)
    this.#losses.delete(batchId)
  }

  note(death: Death): Consequence {
    const { batchId, fault } = death
    if (batchId === null) return this.#noteIdle(death)
    this.#badStarts = 0
    // Lost machines are not the fault of a batch. A rank reports what a batch does to it.
    const isLoss = this.#limits.onMachines && (fault === null || isBlameless(fault))
    const counted = isLoss ? this.#losses : this.#deaths
    const times = (counted.get(batchId) ?? 0) + 1
    counted.set(batchId, times)
    return times >= (isLoss ? MAX_LOSSES : this.#limits.maxFailures)
      ? { kind: 'without-batch', batchId, times }
      : { kind: 'again' }
  }

  #noteIdle({ fault, lastedMs, wasReady }: Death): Consequence {
    this.#badStarts = lastedMs > GOOD_START_MS ? 1 : this.#badStarts + 1
    // After all machines have worked once, the coordinator waits for a lost machine to return.
    const isPatient = this.#limits.onMachines && this.#hasBeenReady
    const isHopeless = !wasReady && (isPatient ? HOPELESS_FOR_ALL : HOPELESS).test(fault?.code ?? '')
    return { kind: (this.#badStarts >= this.#limits.maxFailures && !isPatient) || isHopeless ? 'end' : 'again' }
  }
}

import type { TrainerEvent } from './trainer-events.js'

/** Losses of a rank with one batch in hand. That machines fail so often on one batch is no chance any more. */
const MAX_LOSSES = 20
/** A trainer that idled for so long before it ended did start: someone ended it, or the machine ran short. */
export const GOOD_START_MS = 60_000
/** Codes of `error` events that starting again cannot cure. */
const HOPELESS = /^(config|base|resume|device|step)_/
/** Of a service that the trainer depends on, whenever it is said: no batch is to blame, and the operator has to see to it. */
const UNSERVED = /^service_/
/** Of machines that have trained: one that is back before its devices are will have them. */
const HOPELESS_FOR_ALL = /^(config|base|resume|step)_/
/** Codes of ranks to which nothing happened but that another one is gone, or has been taken for gone. */
const BLAMELESS: readonly string[] = ['peer_lost', 'overtaken']

export type Fault = Pick<TrainerEvent, 'code' | 'message'>

/** How one life of the trainer ended. */
export interface Death {
  /** The batch that it died in; null: in none. */
  readonly batchId: string | null
  readonly fault: Fault | null
  readonly lastedMs: number
  /** Whether it got as far as its newest complete step. */
  readonly wasReady: boolean
}

export interface Mortality {
  /** Deaths with one batch in hand after which it is given up; starts in a row that fail after which the trainer is. */
  readonly maxFailures: number
  /** Whether ranks are on other machines, which can be lost. */
  readonly onMachines: boolean
}

/** What follows: another life, one without that batch, or none. */
export type Consequence =
  | { readonly kind: 'again' | 'end' }
  | { readonly kind: 'without-batch'; readonly batchId: string; readonly times: number }

/** The fault to blame, of those that the ranks have reported: the first one may know no more than that another one is gone. */
export const toBlame = (faults: readonly Fault[]): Fault | null =>
  faults.find((fault) => !isBlameless(fault)) ?? faults[0] ?? null

const isBlameless = ({ code }: Fault): boolean => BLAMELESS.includes(code ?? '')

/** The trainer's deaths, and what follows from each. */
export class TrainerDeaths {
  readonly #limits: Mortality
  /** By batch. */
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

  /** There is an outcome of the batch. */
  forget(batchId: string): void {
    this.#deaths.delete(batchId)
    this.#losses.delete(batchId)
  }

  note(death: Death): Consequence {
    const { batchId, fault } = death
    if (UNSERVED.test(fault?.code ?? '')) return { kind: 'end' }
    if (batchId === null) return this.#noteIdle(death)
    this.#badStarts = 0
    // Machines are lost, and a batch is not to blame for it: what it does to a rank, that rank says.
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
    // A machine that does not come back is waited for, once it is known that all of it has worked.
    const isPatient = this.#limits.onMachines && this.#hasBeenReady
    const isHopeless = !wasReady && (isPatient ? HOPELESS_FOR_ALL : HOPELESS).test(fault?.code ?? '')
    return { kind: (this.#badStarts >= this.#limits.maxFailures && !isPatient) || isHopeless ? 'end' : 'again' }
  }
}

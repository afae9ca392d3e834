import type { GpuInterface, Placement } from './backend.js'
import type { EngineErrorCode } from './errors.js'
import type { AdapterFile, Draw, EngineOptions, SampledTurn, TokenScore } from './types.js'

/**
 * Messages between the client and the engine's process, over Node's IPC with structured cloning. They cross at turn
 * boundaries only, never per token. Requests have an `id` and get one answer. Slots are named by (`group`, `slot`).
 */
export type ToWorker =
  | {
      readonly kind: 'start'
      readonly id: number
      readonly options: EngineOptions
      readonly adapter: AdapterFile | null
      readonly slotWaitMs: number
      readonly sharePrefill: boolean
      readonly keepCaches: boolean
      /** Interfaces to GPUs that must not be used. */
      readonly without: readonly GpuInterface[]
      /** Whether the process was started with a single thread for the library's calls. */
      readonly inOrder: boolean
      /** Private directory of the process, which removes it when its parent ends. */
      readonly scratch: string
    }
  | { readonly kind: 'swap'; readonly id: number; readonly adapter: AdapterFile | null }
  | { readonly kind: 'open'; readonly id: number; readonly group: number; readonly slots: readonly SlotOpening[] }
  | {
      readonly kind: 'score'
      readonly id: number
      readonly tokens: Int32Array
      readonly from: number
      /** Draws of `tokens[from ..]`; null: only log-probabilities are computed. */
      readonly draws: readonly (Draw | null)[] | null
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | {
      readonly kind: 'next'
      readonly group: number
      readonly slot: number
      readonly feed: Int32Array
      readonly maxTokens: number
    }
  | { readonly kind: 'leave'; readonly group: number; readonly slot: number }

export interface SlotOpening {
  readonly prompt: Int32Array
  readonly seeds: readonly number[]
  readonly temperature?: number
}

export type FromWorker =
  | { readonly kind: 'started'; readonly id: number; readonly version: string; readonly placement: Placement }
  | { readonly kind: 'done'; readonly id: number }
  | { readonly kind: 'scored'; readonly id: number; readonly scores: readonly TokenScore[] }
  | { readonly kind: 'failed'; readonly id: number; readonly code: EngineErrorCode; readonly detail: string }
  | {
      readonly kind: 'turn'
      readonly group: number
      readonly slot: number
      readonly tokens: Int32Array
      readonly logprobs: Float64Array
      readonly stop: SampledTurn['stop']
    }
  | {
      readonly kind: 'slot-failed'
      readonly group: number
      readonly slot: number
      readonly code: EngineErrorCode
      readonly detail: string
    }
  | { readonly kind: 'group-over'; readonly group: number }

/** The answers to requests. */
export type Answer = Extract<FromWorker, { readonly id: number }>

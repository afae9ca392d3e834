import { isRefusalCode } from '../../proto/index.js'
import { checkOf as judgingStageOf } from '../../rollout/verification/index.js'
import type { Arena } from './arena.js'

/**
 * Where an attack is stopped: a verification check, the lease service, the batches, the network, the volunteer, or anybody who makes a
 * published step again.
 */
export type Place =
  | '0'
  | '1'
  | '2'
  | '3'
  | '4'
  | '5'
  | '6'
  | '7'
  | 'leases'
  | 'batches'
  | 'transport'
  | 'volunteer'
  | 'rederivation'

/** What became of one try. */
export interface Attempt {
  /** Refused for the right reason, and nothing of it trained, credited or believed. */
  readonly caught: boolean
  /** Where it was stopped; null when it was not. */
  readonly place: Place | null
  /** The code it was refused with, where there was one. */
  readonly code: string | null
  /** CPU time that it cost the coordinator, audits included, or for attacks on volunteers the volunteer. */
  readonly costMs: number
  /** What happened, in a few words. */
  readonly detail: string
}

/** One threat of docs/reference/protocol.md as a program that carries it out. */
export interface Attack {
  readonly name: string
  /** What it does, in one line. */
  readonly about: string
  /** No honest node ever looks like this: it must be caught every time. Otherwise a test on numbers decides. */
  readonly provable: boolean
  /** Where it is expected to be stopped. */
  readonly places: readonly Place[]
  /** @param i  number of the try, from 0 on */
  attempt(arena: Arena, i: number, signal: AbortSignal): Promise<Attempt>
}

/** The stage at which a group is refused with this code; what no stage says is said of the announcement. */
export const checkOf = (code: string): Place =>
  `${(isRefusalCode(code) ? judgingStageOf(code)?.number : undefined) ?? 0}`

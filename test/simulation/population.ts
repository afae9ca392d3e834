import type { SeededRandom } from '../../servers/kernel/index.js'
import { MEASURED } from './measured.js'

/**
 * What a key does. `idle` takes leases and delivers nothing; `canned` writes text that nobody sampled; `copies` says what another
 * node has said; `patient` cheats once few of its groups are audited; `near-ties` picks among near ties for the reward.
 */
export const KINDS = ['honest', 'idle', 'canned', 'copies', 'patient', 'near-ties'] as const
export type Kind = (typeof KINDS)[number]

/** One volunteer's machine and habits. */
export interface Person {
  readonly number: number
  readonly kind: Kind
  /** Mean time of a group (s). */
  readonly groupS: number
  readonly delayMs: number
  readonly isDialable: boolean
  /** It has delivered for days before the simulation begins. */
  readonly isKnown: boolean
  readonly address: string
}

/** 0 .. 1, never 0. */
export const unit = (random: SeededRandom): number => random.int(1, 1_000_000) / 1_000_001

export const exponential = (random: SeededRandom, mean: number): number => -mean * Math.log(unit(random))

/** A factor whose mean is 1. @param spread  standard deviation of its logarithm */
export function lognormal(random: SeededRandom, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(unit(random))) * Math.cos(2 * Math.PI * unit(random))
  return Math.exp(spread * normal - spread ** 2 / 2)
}

/** @param isKnown  whether it may be: attackers that are known are of the patient kinds */
export function person(random: SeededRandom, number: number, isKnown: boolean): Person {
  const isAttacker = random.chance(MEASURED.attackers.value)
  const kind = isAttacker ? KINDS[random.int(1, KINDS.length - 1)]! : 'honest'
  const [a, b] = [number >> 8, number & 255]
  return {
    number,
    kind,
    groupS: MEASURED.groupS.value * lognormal(random, MEASURED.speedSpread.value),
    delayMs: random.int(10, 70),
    isDialable: random.chance(MEASURED.dialable.value),
    isKnown: isKnown && (kind === 'honest' || kind === 'patient' || kind === 'near-ties'),
    // A block of its own for each, in a range that is public.
    address: `/ip4/${60 + (a >> 8)}.${a & 255}.${b}.7/tcp/4001`,
  }
}

const DAY_S = 86_400

/** How many come at a time of day, where 1 is the mean: evenings of three continents. @param atS  seconds of a day, UTC */
export function presence(atS: number): number {
  const evening = (hour: number, weight: number): number =>
    weight * Math.cos((2 * Math.PI * (atS - hour * 3600)) / DAY_S)
  return 1 + evening(20, 0.25) + evening(2, 0.2) + evening(13, 0.1)
}

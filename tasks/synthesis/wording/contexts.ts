import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import type { Persona } from './speech.js'
import { byRegister, texts, wordList } from './word-list.js'

/** Whether all calls of a turn look something up, all change something, or some do each. */
export type Doing = 'looks' | 'changes' | 'both'

const words = wordList(
  'contexts',
  z.strictObject({
    leads: z.record(z.string(), z.strictObject({ any: texts, looks: texts.optional(), changes: texts.optional() })),
    times: texts,
    anywhere: byRegister(texts),
    trails: byRegister(texts),
  }),
)

const LEAD_CHANCE = { terse: 0.03, plain: 0.1, polite: 0.13, chatty: 0.22 } as const
const TRAIL_CHANCE = { terse: 0.02, plain: 0.05, polite: 0.07, chatty: 0.1 } as const

/** Draws a reason for a turn in this environment: mostly none. */
export function lead(environment: string, doing: Doing, register: Persona['register'], random: SeededRandom): string {
  if (!random.chance(LEAD_CHANCE[register])) return ''
  const { leads, times, anywhere } = words()
  const { any = [], looks = [], changes = [] } = Object.hasOwn(leads, environment) ? itemAt(leads, environment) : {}
  const own = [...any, ...(doing === 'looks' ? looks : doing === 'changes' ? changes : [])]
  const fitting = own.length === 0 || random.chance(0.2) ? anywhere[register] : own
  return fitting.length === 0 ? '' : random.pick(fitting).replace('~', () => random.pick(times))
}

/** Draws a sentence that ends a turn which changes something: mostly none. */
export const trail = (register: Persona['register'], random: SeededRandom): string =>
  random.chance(TRAIL_CHANCE[register]) ? random.pick(words().trails[register]) : ''

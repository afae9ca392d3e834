import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Persona } from './speech.js'
import { texts, wordList } from './word-list.js'

const REGISTER = z.enum(['terse', 'plain', 'polite', 'chatty'])

const words = wordList(
  'personas',
  z.strictObject({
    given_names: texts,
    family_names: texts,
    trades: z.record(z.string(), REGISTER).transform((trades) => Object.entries(trades)),
    towns: texts,
  }),
)

/** Draws a user: a name, a trade and a town, and a register that often goes with the trade, but not always. */
export function drawPersona(random: SeededRandom): Persona {
  const { given_names: givenNames, family_names: familyNames, trades, towns } = words()
  const [trade, usual] = random.pick(trades)
  return {
    name: `${random.pick(givenNames)} ${random.pick(familyNames)}`,
    role: `${trade} from ${random.pick(towns)}`,
    register: random.chance(0.55) ? usual : random.pick(REGISTER.options),
  }
}

/** Splits the role of a user into trade and town: `a nurse` and `Porto`. */
export function tradeAndTown({ role }: Persona): { readonly trade: string; readonly town: string } {
  const [, trade = role, town = ''] = /^(.*) from (.*)$/.exec(role) ?? []
  return { trade, town }
}

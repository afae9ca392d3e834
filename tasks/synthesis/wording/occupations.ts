import { z } from 'zod'
import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { tradeAndTown } from './personas.js'
import type { Persona } from './speech.js'
import { texts, wordList } from './word-list.js'

const words = wordList(
  'occupations',
  z.strictObject({ circles: z.record(z.string(), texts), work: z.record(z.string(), texts) }),
)

/**
 * Gives a user an occupation that fits these environments. Where people use none of the environments at work, the occupation stays, so that it
 * does not reveal what the user will ask for.
 */
export function inEnvironments(persona: Persona, environments: readonly string[]): Persona {
  const { circles: members, work } = words()
  const circles = environments.flatMap((environment) =>
    Object.hasOwn(work, environment) ? [itemAt(work, environment)] : [],
  )
  if (circles.length === 0) return persona
  const [first = [], ...others] = circles.map((names) => [...new Set(names.flatMap((name) => itemAt(members, name)))])
  const common = first.filter((trade) => others.every((trades) => trades.includes(trade)))
  // If no occupation fits all environments, one that fits the first is drawn.
  const fitting = common.length > 0 ? common : first
  const { trade, town } = tradeAndTown(persona)
  if (fitting.includes(trade)) return persona
  const random = seededRandom(deriveSeed('occupation', persona.name, persona.role, ...environments))
  return { ...persona, role: `${random.pick(fitting)} from ${town}` }
}

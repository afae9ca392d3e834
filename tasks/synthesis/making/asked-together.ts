import { type EntitySpec, hasEffect, speechOf } from '../../../servers/kernel/index.js'
import { oncePer, oncePerName } from '../once-per.js'
import { isPerson } from '../wording/reference-words.js'
import { speaksOfSeveral } from '../wording/tool-phrases.js'
import { kindsListed } from './entities-shown.js'
import type { Step } from './step.js'

type Found = Pick<Step, 'environment' | 'tool' | 'output'>

/** Whether some way to ask for a look-up asks for several things of a kind, of which one can be the cheapest. */
export const canAskForSeveral = ({ tool, environment }: Pick<Found, 'environment' | 'tool'>, entity: string): boolean =>
  numbersIn(environment)(tool, entity).several

/** Whether some ways to ask for a tool ask for several things of a kind, and whether some ask for one. */
const numbersIn = oncePer((environment: Found['environment']) =>
  oncePerName((tool: Found['tool'], entity: string) => {
    const spec = specOf(environment, entity)
    const areSeveral = speechOf({ environment, tool }).ask.map((clause) => speaksOfSeveral(clause, spec))
    return { several: areSeveral.includes(true), one: areSeveral.includes(false) }
  }),
)

const specOf = (environment: Found['environment'], entity: string): Pick<EntitySpec, 'noun' | 'label'> =>
  environment.entities[entity] ?? { noun: entity.replaceAll('_', ' ') }

/** Returns whether a call commits the user to such a thing as it is. */
export const commitsTo = (user: Pick<Step, 'environment' | 'tool'>, noun = ''): boolean =>
  hasEffect(user, 'commits') && !isPerson(noun)

/**
 * Returns whether a user can ask for a look-up and, in the same breath, for an action on a thing that it finds. The user cannot if every
 * way to ask for the look-up asks for several things. Nor can the user if people would not act unseen: offers are read before one is
 * accepted.
 * @param entity  the kind of thing that is taken from it
 * @param user  what is done with it
 */
export function isAskedAtOnce(found: Found, entity: string, user: Pick<Step, 'environment' | 'tool'>): boolean {
  const { tool, environment } = found
  if (!tool.annotations.readOnly || !kindsListed(found).has(entity)) return true
  return !commitsTo(user, specOf(environment, entity).noun) && numbersIn(environment)(tool, entity).one
}

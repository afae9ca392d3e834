import type { Session, SpokenEnvironment } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { entitiesShown, entitiesTaken } from './entities-shown.js'
import type { Open, Step } from './step.js'

/**
 * Whether what each call joins belongs together: who is looked for among the people of one project is given no work of another. It is read
 * off the rows of the environments as they were before, and what is made on the way belongs where it is made.
 */
export function belongsTogether(steps: readonly Step[], open: Open): boolean {
  const sessions = new Map<SpokenEnvironment, Session>()
  const sessionOf = (environment: SpokenEnvironment): Session => {
    const session = sessions.get(environment) ?? open(environment)
    sessions.set(environment, session)
    return session
  }
  return steps.every((step) =>
    step.bindings.every(({ source, value }) => {
      const lookUp = itemAt(steps, source)
      if (lookUp.environment !== step.environment || !lookUp.tool.annotations.readOnly) return true
      const places = entitiesTaken(lookUp)
      const others = entitiesTaken(step).filter(({ key }) => key !== value)
      if (places.length === 0 || others.length === 0) return true
      return others.every(({ entity, key }) => {
        const table = step.environment.entities[entity]?.table
        const row = table === undefined ? undefined : itemAt(sessionOf(step.environment).db, table).get(key)
        const maker =
          row === undefined ? steps.find((made) => entitiesShown(made).some((it) => it.key === key)) : undefined
        return places.every((place) => {
          const made = maker && entitiesTaken(maker).find((taken) => taken.entity === place.entity)?.key
          const own = row?.[place.entity] ?? made
          return typeof own !== 'string' || own === place.key
        })
      })
    }),
  )
}

import { type Environment, meaningOf } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import { itemAt, valueAt } from '../item-at.js'
import { resolve } from './resolve.js'
import { transcriptOf } from './transcript.js'

/** A reference by which a listener finds nothing, or something else than the call uses. */
export interface Unresolved {
  readonly words: string
  readonly wanted: string
  readonly found: string | undefined
}

/** The parts of an example that references are judged by. */
export interface Referring extends Pick<Example, 'exchanges' | 'speech' | 'origins'> {
  readonly task: { readonly groundTruth: readonly Pick<Example['task']['groundTruth'][number], 'name' | 'arguments'>[] }
}

/** References of a conversation that a listener does not understand as the ground truth does. */
export function unresolvedIn(
  { exchanges, speech, origins, task }: Referring,
  catalogue: ReadonlyMap<string, Environment>,
): Unresolved[] {
  const transcript = transcriptOf({ exchanges, speech }, catalogue)
  const calls = exchanges.flatMap(({ calls: made }) => made)
  return origins.flatMap((fields, call) =>
    Object.entries(fields).flatMap(([field, origin]): Unresolved[] => {
      if (origin.from !== 'result' || !origin.said) return []
      const { environment: name } = calls.find(({ truth }) => truth === call)!
      const environment = valueAt(catalogue, name)
      const truth = itemAt(task.groundTruth, call)
      const { entity } = meaningOf(itemAt(valueAt(environment.toolsByName, truth.name).input.shape, field))
      if (entity === undefined) return []
      const noun = environment.entities[entity]?.noun ?? entity.replaceAll('_', ' ')
      const wanted = truth.arguments[field] as string
      const found = resolve({ ...origin.said, call, entity, noun }, transcript)
      return found === wanted ? [] : [{ words: origin.said.words, wanted, found }]
    }),
  )
}

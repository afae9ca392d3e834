import type { JsonObject } from '../../rollout/reward/index.js'
import {
  deriveSeed,
  generateSeedState,
  meaningOf,
  type SeededRandom,
  Session,
  type SpokenEnvironment,
  seededRandom,
  type ToolDefinition,
} from '../../servers/kernel/index.js'
import type { Way } from '../../tasks/synthesis/way.js'
import { drawPersona } from '../../tasks/synthesis/wording/persona.js'
import { type Ask, type Moment, REGISTERS } from '../../tasks/synthesis/wording/speech.js'
import { CATALOGUE } from './spoken-catalogue.js'

export const TODAY = '2026-03-02'

/** A call of one tool that a user could ask for, with its result. */
export interface Sample {
  readonly environment: SpokenEnvironment
  readonly tool: ToolDefinition
  readonly args: JsonObject
  readonly output: JsonObject
}

/** Returns successful sampled calls of every tool of every environment, `perTool` of each where the state allows it. */
export function samples(perTool: number): Sample[] {
  return [...CATALOGUE.values()].flatMap((environment) => {
    const environments = [1, 2].map((seed) => Session.open(generateSeedState(environment, seed)))
    return environment.tools.flatMap((tool) =>
      Array.from({ length: perTool }, (_, draw) => {
        const random = seededRandom(deriveSeed('speech', tool.name, draw))
        const session = environments[draw % environments.length]!
        const sampled = session.sampleArguments(tool, random, {})
        if (!sampled) return []
        const args = Object.fromEntries(
          Object.entries(sampled).filter(([, value]) => value !== undefined),
        ) as JsonObject
        const result = session.fork().call(tool.name, args)
        return result.ok ? [{ environment, tool, args, output: result.output as JsonObject }] : []
      }).flat(),
    )
  })
}

export function momentOf(seed: number | string, turn = 0): Moment {
  const random = seededRandom(deriveSeed('moment', seed))
  const persona = { ...drawPersona(random), register: random.pick(REGISTERS) }
  return { persona, today: TODAY, dated: random.chance(0.5), turn, random }
}

const NO_REFERENCES: ReadonlyMap<string, Way> = new Map()

/** Returns the sample as a request that states every value. */
export const spelledOut = ({ environment, tool, args }: Sample): Ask => ({
  environment,
  tool,
  args,
  references: NO_REFERENCES,
})

/** Returns the sample as a request that refers to keys which users do not say. */
export function referring({ environment, tool, args }: Sample, random: SeededRandom): Ask {
  const references = new Map<string, Way>()
  for (const field of Object.keys(args)) {
    const { entity } = meaningOf(tool.input.shape[field]!)
    const spec = entity === undefined ? undefined : environment.entities[entity]
    if (!spec || spec.sayable) continue
    const { noun } = spec
    references.set(
      field,
      random.pick<Way>([
        ...([...references.values()].some((way) => way.noun === noun) ? [] : [{ how: 'only', noun } as const]),
        { how: 'label', noun, label: 'Blue Lantern' },
        { how: 'place', noun, place: references.size + 1, of: 4 },
        { how: 'extreme', noun, field: random.pick(['price', 'limit', 'date', 'rating']), most: 'lowest' },
      ]),
    )
  }
  return { environment, tool, args, references }
}

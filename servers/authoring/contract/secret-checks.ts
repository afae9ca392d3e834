import { deriveSeed, type Environment, meaningOf, seededRandom } from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'
import { openerOf, SEEDS } from './seeds.js'

/** Wrong secrets in a row after which an environment must reject the right one; banks allow three. */
const MOST_WRONG = 5
/** Draws of arguments per seed. */
const DRAWS = 4

/** Returns the checks that a secret of a few digits cannot be guessed: after some wrong secrets the right one is rejected as well. */
export function secretChecks(environment: Environment): EnvironmentCheck[] {
  const guarded = environment.tools.flatMap((tool) =>
    Object.entries(tool.input.shape)
      .filter(([, schema]) => meaningOf(schema).sensitive && isOfDigits(schema))
      .map(([field]) => ({ tool, field })),
  )
  return guarded.map(({ tool, field }) => ({
    name: `protects the ${field} of ${tool.name} against guessing`,
    run() {
      const open = openerOf(environment)
      for (const index of SEEDS.keys()) {
        const session = open(index)
        const random = seededRandom(deriveSeed('secrets', index))
        const draws = Array.from({ length: DRAWS }, () => session.sampleArguments(tool, random, {}))
        const args = draws.find((drawn) => drawn?.[field] !== undefined)
        if (!args) continue
        const wrong = args[field] === '0000' ? '1111' : '0000'
        for (let i = 0; i < MOST_WRONG; i++) session.call(tool.name, { ...args, [field]: wrong })
        hold(
          !session.call(tool.name, args).ok,
          `${tool.name} accepts the right ${field} after ${MOST_WRONG} wrong ones`,
          'Declare a lockout in defineEnvironment.',
        )
        return
      }
      hold(false, `${tool.name} never accepted a ${field}`, 'Add rows that need it to the seed.')
    },
  }))
}

const isOfDigits = (schema: { safeParse(value: unknown): { success: boolean } }): boolean =>
  schema.safeParse('0000').success && !schema.safeParse('open sesame').success

import type { Environment, ToolDefinition } from '../../kernel/index.js'

/**
 * Returns the environment with functions that cannot use the machine's clock or random numbers, because a replay could not repeat their result.
 * Each such use throws an error that names the replacement.
 */
export function sealed(environment: Environment): Environment {
  const tools = environment.tools.map(
    (tool): ToolDefinition => ({
      ...tool,
      sample: (context) => apart(() => tool.sample(context)),
      run: (args, context) => apart(() => tool.run(args, context)),
    }),
  )
  return {
    ...environment,
    tools,
    toolsByName: new Map(tools.map((tool) => [tool.name, tool])),
    seed: (context) => apart(() => environment.seed(context)),
  }
}

const refuse = (what: string, instead: string) => (): never => {
  throw new Error(`it uses ${what}, which differs from machine to machine: ${instead}`)
}
const noChance = refuse('Math.random', 'use the random that the function receives')
const noClock = refuse('the clock of the machine', 'use now() and today(), or start in seed')

const SystemDate = Date
const dateWithoutClock = new Proxy(SystemDate, {
  construct: (target, args, made) => (args.length === 0 ? noClock() : (Reflect.construct(target, args, made) as Date)),
  apply: noClock,
  get: (target, key, receiver) => (key === 'now' ? noClock : (Reflect.get(target, key, receiver) as unknown)),
})
const chance = Math.random

/** Runs synchronous work without clock and chance. No other code runs meanwhile. */
function apart<T>(work: () => T): T {
  Math.random = noChance
  globalThis.Date = dateWithoutClock
  try {
    return work()
  } finally {
    Math.random = chance
    globalThis.Date = SystemDate
  }
}

import type { Environment, ToolDefinition } from '../../kernel/index.js'

/**
 * The world, but its functions find neither a clock nor chance of the machine while they run: what they would do with them, no judge
 * could repeat. Each such use throws and says what to use instead.
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
const noChance = refuse('Math.random', 'take chance from random, which it is given')
const noClock = refuse('the clock of the machine', 'take the time from now() and today(), or in seed from start')

const SystemDate = Date
const dateWithoutClock = new Proxy(SystemDate, {
  construct: (target, args, made) => (args.length === 0 ? noClock() : (Reflect.construct(target, args, made) as Date)),
  apply: noClock,
  get: (target, key, receiver) => (key === 'now' ? noClock : (Reflect.get(target, key, receiver) as unknown)),
})
const chance = Math.random

/** Nothing here is asynchronous, so nobody else is disturbed. */
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

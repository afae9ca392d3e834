import {
  deriveSeed,
  PAGE,
  requiredReferences,
  type ServerDefinition,
  type Session,
  seededRandom,
  type ToolDefinition,
} from '../../kernel/index.js'
import { hold, type WorldCheck } from './breach.js'
import { walk } from './random-calls.js'
import { openerOf, SEEDS } from './seeds.js'

export interface SampleBounds {
  /** Least share of sampled calls that succeed, per tool. */
  readonly sampleFloor: number
  /** Longest result of a sampled call, in characters of JSON. */
  readonly maxResultChars: number
}

/** Calls before a tool is tried, and how often it then is, in each world. */
const STEPS = 8
const DRAWS = 5
const ADVICE =
  'Let sample draw only what run accepts, by the same rule, and return null when the state has nothing to offer.'

/** Whether samplers give tasks something to ask for. */
export function sampleChecks(server: ServerDefinition, bounds: SampleBounds): WorldCheck[] {
  const open = openerOf(server)
  return [
    {
      name: 'offers sampled arguments that nearly always succeed, with short results',
      run() {
        const tally = new Map(server.tools.map((tool) => [tool, { drawn: 0, succeeded: 0, last: '' }]))
        for (const index of SEEDS.keys()) {
          const random = seededRandom(deriveSeed('samples', index))
          const session = open(index)
          walk(session, server, random, STEPS)
          for (const [tool, counts] of tally) {
            for (let draw = 0; draw < DRAWS; draw++) {
              const args = session.sampleArguments(tool, random, {})
              if (!args) continue
              counts.drawn++
              const failure = tryOut(tool, args, session, bounds)
              if (failure === null) counts.succeeded++
              else counts.last = failure
            }
          }
        }
        for (const [{ name }, { drawn, succeeded, last }] of tally) {
          hold(
            drawn > 0,
            `${name} never found anything to sample`,
            'Its sample always returned null: see that the seed has rows that fit.',
          )
          hold(
            succeeded >= bounds.sampleFloor * drawn,
            `${name}: ${succeeded} of ${drawn} sampled calls succeeded; the last that failed: ${last}`,
            ADVICE,
          )
        }
      },
    },
    {
      name: 'keeps a bound reference when it samples the other arguments',
      run: () => checkBound(server, open, bounds.sampleFloor),
    },
  ]
}

/** @returns why the call failed, null if it succeeded */
function tryOut(
  tool: ToolDefinition,
  args: Record<string, unknown>,
  session: Session,
  { maxResultChars }: SampleBounds,
): string | null {
  hold(
    tool.input.safeParse(args).success,
    `${tool.name} sampled arguments that its own input refuses: ${JSON.stringify(args)}`,
    'Return what the schema input describes, no field more.',
  )
  const result = session.fork().call(tool.name, args)
  if (!result.ok) return `${JSON.stringify(args)} -> ${result.code}: ${result.message}`
  const text = JSON.stringify(result.output)
  hold(
    text.length <= maxResultChars,
    `${tool.name} answers with ${text.length} characters: ${text}`,
    `A result has at most ${maxResultChars}, for small models read it: show fewer fields, or cut lists by page.`,
  )
  for (const [field, value] of Object.entries(result.output)) {
    hold(
      !Array.isArray(value) || value.length <= PAGE.short,
      `${tool.name} lists ${Array.isArray(value) ? value.length : 0} ${field}`,
      `Cut the list with page: a result shows at most ${PAGE.short} entries.`,
    )
  }
  return null
}

function checkBound(server: ServerDefinition, open: (index: number) => Session, sampleFloor: number): void {
  const kept = new Map<string, number>()
  const failed: string[] = []
  for (const index of SEEDS.keys()) {
    const random = seededRandom(deriveSeed('bound', index))
    const session = open(index)
    for (const tool of server.tools) {
      for (const field of requiredReferences(tool.input).keys()) {
        const name = `${tool.name}, {${field}}`
        kept.set(name, kept.get(name) ?? 0)
        const free = session.sampleArguments(tool, random, {})
        if (!free) continue
        const fixed = session.sampleArguments(tool, random, { [field]: free[field] })
        if (!fixed) continue
        hold(
          JSON.stringify(fixed[field]) === JSON.stringify(free[field]),
          `${name}: sample was given ${JSON.stringify(free[field])} and returned ${JSON.stringify(fixed[field])}`,
          'Keep what is in bound, and choose the other arguments to fit; choose(table, random, bound.field, fits) does.',
        )
        const result = session.fork().call(tool.name, fixed)
        if (result.ok) kept.set(name, kept.get(name)! + 1)
        else failed.push(`${tool.name} ${JSON.stringify(fixed)} -> ${result.code}`)
      }
    }
  }
  for (const [name, times] of kept) hold(times > 0, `${name}: no sample that had to keep it ever succeeded`, ADVICE)
  const drawn = [...kept.values()].reduce((sum, times) => sum + times, failed.length)
  hold(
    failed.length <= (1 - sampleFloor) * drawn,
    `${failed.length} of ${drawn} samples that had to keep a reference failed, such as ${failed[0]}`,
    ADVICE,
  )
}

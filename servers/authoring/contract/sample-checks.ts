import { countOf } from '../../../common/errors/index.js'
import {
  deriveSeed,
  type Environment,
  PAGE,
  requiredReferences,
  type SeededRandom,
  type Session,
  seededRandom,
  type ToolDefinition,
} from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'
import { walk } from './random-calls.js'
import { openerOf, SEEDS } from './seeds.js'

export interface SampleBounds {
  /** Least share of sampled calls that succeed, per tool. */
  readonly sampleFloor: number
  /** Longest result of a sampled call, in characters of JSON. */
  readonly maxResultChars: number
}

/** Number of calls before a tool is tried, and of tries, for each seed. */
const STEPS = 8
const DRAWS = 5
/** Calls on the way to a tool that the first ones did not lead to. */
const LONG_WAY = 60
const ADVICE = 'Draw in sample only what run accepts, by the same rule, and return null if the state offers nothing.'

const PAGING = "Return the whole list and name it in the tool's pages: the kernel cuts it."

/** Returns the checks of samplers. */
export function sampleChecks(environment: Environment, bounds: SampleBounds): EnvironmentCheck[] {
  const open = openerOf(environment)
  return [
    {
      name: 'offers sampled arguments that nearly always succeed, with short results',
      run() {
        // Undecided tools are a separate finding.
        const decided = environment.tools.filter((tool) => tool.undecided === undefined)
        hold(decided.length > 0, 'every tool is undecided', 'Decide some of them first.')
        const tally = new Map(decided.map((tool) => [tool, { drawn: 0, succeeded: 0, last: '' }]))
        const draw = (session: Session, tool: ToolDefinition, random: SeededRandom): void => {
          const counts = tally.get(tool)!
          const args = session.sampleArguments(tool, random, {})
          if (!args) return
          counts.drawn++
          const failure = tryOut(tool, args, session, bounds)
          if (failure === null) counts.succeeded++
          else counts.last = failure
        }
        for (const index of SEEDS.keys()) {
          const random = seededRandom(deriveSeed('samples', index))
          const session = open(index)
          walk(session, environment, random, STEPS)
          for (const tool of decided) for (let time = 0; time < DRAWS; time++) draw(session, tool, random)
        }
        // What takes several other calls first, in their order, is met on longer ways.
        const unmet = decided.filter((tool) => tally.get(tool)!.drawn === 0)
        for (const index of unmet.length === 0 ? [] : SEEDS.keys()) {
          const random = seededRandom(deriveSeed('long samples', index))
          const session = open(index)
          for (let step = 0; step < LONG_WAY; step++) {
            walk(session, environment, random, 1)
            for (const tool of unmet) draw(session, tool, random)
          }
        }
        for (const [{ name }, { drawn, succeeded, last }] of tally) {
          hold(
            drawn > 0,
            `${name} never sampled any arguments`,
            'Its sample always returned null: add rows that fit to the seed.',
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
      name: 'hides no entries: a list that is cut can be read to its end',
      run: () => checkPages(environment, open),
    },
    {
      name: 'keeps a bound reference when it samples the other arguments',
      run: () => checkBound(environment, open, bounds.sampleFloor),
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
    `${tool.name} sampled arguments that its own input rejects: ${JSON.stringify(args)}`,
    'Return the fields of the schema input, and no others.',
  )
  const result = session.fork().call(tool.name, args)
  if (!result.ok) return `${JSON.stringify(args)} -> ${result.code}: ${result.message}`
  const text = JSON.stringify(result.output)
  hold(
    text.length <= maxResultChars,
    `${tool.name} answers with ${countOf(text.length, 'character')}: ${text}`,
    `A result may have at most ${maxResultChars}, because small models read it: show fewer fields, or cut lists into pages.`,
  )
  for (const [field, value] of Object.entries(result.output)) {
    hold(
      !Array.isArray(value) || value.length <= PAGE.short,
      `${tool.name} lists ${Array.isArray(value) ? value.length : 0} ${field}`,
      `Name the list in pages of the tool: a result shows at most ${PAGE.short} entries.`,
    )
  }
  return null
}

/** More pages than any list of ours has. */
const MOST_PAGES = 200

function checkPages(environment: Environment, open: (index: number) => Session): void {
  const reading = environment.tools.filter(({ annotations }) => annotations.readOnly)
  for (const index of SEEDS.keys()) {
    const random = seededRandom(deriveSeed('pages', index))
    const session = open(index)
    walk(session, environment, random, STEPS)
    for (const tool of reading) {
      const args = session.sampleArguments(tool, random, {})
      if (!args) continue
      readToTheEnd(session, tool, args)
      readToTheEnd(session, tool, widened(args))
    }
  }
}

/** The same, with two letters for each text, which many more entries have. */
const widened = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, 2) : value]),
  )

function readToTheEnd(session: Session, tool: ToolDefinition, args: Record<string, unknown>): void {
  const lists = Object.keys(tool.pages ?? {})
  let shown = 0
  let page = 1
  for (; page <= MOST_PAGES; page++) {
    const result = session.call(tool.name, page === 1 ? args : { ...args, page })
    if (!result.ok) return
    const arrays = Object.entries(result.output).filter(([, value]) => Array.isArray(value)) as [string, unknown[]][]
    if (arrays.length === 1) shown += arrays[0]![1].length
    const { next_page } = result.output
    const call = `${tool.name} ${JSON.stringify(args)}`
    if (next_page !== undefined) {
      const isFull = arrays.some(([name, value]) => lists.includes(name) && value.length > 0)
      hold(isFull && next_page === page + 1, `${call} names page ${next_page} after page ${page}`, PAGING)
      continue
    }
    const { found } = result.output
    if (arrays.length === 1 && typeof found === 'number')
      hold(
        shown === found,
        `${call} found ${found} ${arrays[0]![0]} and shows ${shown} on ${countOf(page, 'page')}`,
        PAGING,
      )
    return
  }
  hold(false, `${tool.name} ${JSON.stringify(args)} has more than ${MOST_PAGES} pages`, PAGING)
}

function checkBound(environment: Environment, open: (index: number) => Session, sampleFloor: number): void {
  const kept = new Map<string, number>()
  const failed: string[] = []
  for (const index of SEEDS.keys()) {
    const random = seededRandom(deriveSeed('bound', index))
    const session = open(index)
    for (const tool of environment.tools.filter(({ undecided }) => undecided === undefined)) {
      for (const field of new Set(requiredReferences(tool.input).map(([name]) => name))) {
        const name = `${tool.name}, {${field}}`
        kept.set(name, kept.get(name) ?? 0)
        const free = session.sampleArguments(tool, random, {})
        if (!free) continue
        const fixed = session.sampleArguments(tool, random, { [field]: free[field] })
        if (!fixed) continue
        hold(
          JSON.stringify(fixed[field]) === JSON.stringify(free[field]),
          `${name}: sample was given ${JSON.stringify(free[field])} and returned ${JSON.stringify(fixed[field])}`,
          'Keep the arguments of bound and choose the others to fit, as choose(table, random, bound.field, fits) does.',
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

import { Environment, parse, tokenize } from '@huggingface/jinja'
import { BoundedInterpreter, type JinjaEnvironment, overspent, survey } from './bounded-interpreter.js'
import { EpisodeError } from './errors.js'

/** A chat template with bounded cost: it is part of the run's base model, whose author may be hostile. */
export interface ChatTemplate {
  /** Renders the template. @throws EpisodeError `bad_template`, also if it costs more than honest templates do */
  render(input: Readonly<Record<string, unknown>>): string
}

/** The longest templates in use have some 20,000 characters. */
export const MAX_TEMPLATE_CHARS = 131_072
const MAX_RANGE = 4096
/** A run of white space for which one of the lexer's patterns needs quadratic time. */
const LONG_SPACE = /\s{1024}/

const NewEnvironment = Environment as new () => JinjaEnvironment

/**
 * Parses a chat template.
 * @param source  Jinja, from a GGUF's metadata
 * @throws EpisodeError `bad_template`
 */
export function createChatTemplate(source: string): ChatTemplate {
  if (source.length > MAX_TEMPLATE_CHARS) {
    throw new EpisodeError(
      'bad_template',
      `the template has ${source.length} characters, at most ${MAX_TEMPLATE_CHARS} are allowed`,
    )
  }
  if (LONG_SPACE.test(source))
    throw new EpisodeError('bad_template', 'the template has over a thousand spaces in a row')
  const { program, places } = refusing(() => {
    const parsed: unknown = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))
    return { program: parsed, places: survey(parsed) }
  })
  return {
    render: (input) =>
      refusing(() => {
        const environment = globals()
        for (const [name, value] of Object.entries(input)) environment.set(name, value)
        return String(new BoundedInterpreter(environment, places).run(program).value)
      }),
  }
}

/** Converts every error of the library, a stack overflow included, to `bad_template`. */
function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof EpisodeError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new EpisodeError('bad_template', `it cannot be rendered: ${reason.slice(0, 200)}`, { cause })
  }
}

/** Returns the library's globals with a bounded `range`, and without the clock, which would differ between node and coordinator. */
function globals(): JinjaEnvironment {
  const environment = new NewEnvironment()
  for (const [name, value] of [
    ['true', true],
    ['false', false],
    ['none', null],
  ] as const) {
    environment.set(name, value)
    environment.set(`${name[0]!.toUpperCase()}${name.slice(1)}`, value)
  }
  environment.set('raise_exception', (message: unknown) => {
    throw new Error(String(message))
  })
  environment.set('range', range)
  return environment
}

function range(first: unknown, second?: unknown, step: unknown = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(stop) || !Number.isSafeInteger(step) || step === 0) {
    throw new Error('range() takes integers, and a step other than 0')
  }
  const [from, to, by] = [start, stop, step] as [number, number, number]
  const count = Math.max(0, Math.ceil((to - from) / by))
  if (count > MAX_RANGE) throw overspent(`a range of ${count}`)
  return Array.from({ length: count }, (_, i) => from + i * by)
}

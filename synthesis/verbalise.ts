import type { SeededRandom, ToolDefinition } from '../servers/kernel/index.js'

/**
 * Puts a call into a user's words: one of the tool's clauses, with arguments that have a phrase of their own
 * ("that account") in place of the value.
 * @returns `undefined` when no clause mentions every given argument
 */
export function clauseFor(
  tool: ToolDefinition,
  args: Readonly<Record<string, unknown>>,
  phrases: ReadonlyMap<string, string>,
  random: SeededRandom,
): string | undefined {
  const mentions = (clause: string): boolean => Object.keys(args).every((field) => clause.includes(`{${field}}`))
  const fitting = tool.ask.filter(mentions)
  if (fitting.length === 0) return undefined
  return random
    .pick(fitting)
    .replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
      fieldsOf(part).every((field) => args[field] !== undefined) ? part : '',
    )
    .replaceAll(/\{([^}]*)\}/g, (_, field: string) => phrases.get(field) ?? spoken(args[field]))
}

function fieldsOf(part: string): string[] {
  return [...part.matchAll(/\{([^}]*)\}/g)].map(([, field]) => field!)
}

function spoken(value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  return value.length < 2 ? value.join('') : `${value.slice(0, -1).join(', ')} and ${value.at(-1)}`
}

const OPENINGS = ['Please {}', 'Can you {}', 'I need you to {}', 'Could you {}', 'Hi, please {}', '{}'] as const
const CONNECTIVES = [', then {}', ' and then {}', ', after that {}', '. Then {}', '. Next, {}'] as const
const FOLLOW_UPS = ['Thanks. Now {}', 'Great, now {}', 'Next, {}', 'Now please {}', 'And {}'] as const

/** One user turn that asks for everything in `clauses`, in order. */
export function userTurn(clauses: readonly string[], isFirst: boolean, random: SeededRandom): string {
  const [first, ...rest] = clauses
  const opening = random.pick(isFirst ? OPENINGS : FOLLOW_UPS).replace('{}', () => first!)
  const text = rest.reduce((said, clause) => said + random.pick(CONNECTIVES).replace('{}', () => clause), opening)
  const sentence = text[0]!.toUpperCase() + text.slice(1)
  return /^(Can|Could) you/.test(sentence) && !sentence.includes('. ') ? `${sentence}?` : `${sentence}.`
}

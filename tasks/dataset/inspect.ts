import Table from 'cli-table3'
import { countOf } from '../../common/errors/index.js'
import type { Example, Origin, ReferenceCall } from './example.js'
import { SPLITS } from './profile.js'
import { countExample, emptyStatistics, KINDS, ofKind, ownEnvironments, sumOf, type Tally } from './statistics.js'

/** Terminal columns of wrapped texts. */
const WIDTH = 100
/** Most characters of a shown response. */
const RESPONSE_LENGTH = 400

/** Returns an example as text for a terminal: the conversation, the source of every argument, and the offered tools. */
export function renderExample(example: Example): string {
  const { task } = example
  const heading = [
    `${task.kind} example ${example.index} (${example.split}), task ${task.id}`,
    `chain: ${task.chain}`,
    `environments: ${task.environments.map(({ environment, seed }) => `${environment} with seed ${seed}`).join(', ')}`,
    `information: ${example.information}, recovery: ${example.recovery ?? 'none'}, words: ${example.speech}`,
    `persona: ${example.persona}`,
    ...domainRuleLines(example.domainRules),
  ].join('\n')
  const system = task.system === undefined ? [] : [wrapped(task.system, 'system: ')]
  return printable(`${[heading, ...system, ...conversationOf(example), toolsetOf(example)].join('\n\n')}\n`)
}

function domainRuleLines(domainRules: Example['domainRules']): string[] {
  if (!domainRules) return []
  if (domainRules.role === 'abiding') return ['domain rules: none applies']
  const { role, outcome, rule, turn, call } = domainRules
  return [
    `domain rule: ${rule}, ${role} in user turn ${turn}, then ${outcome}: ${call.name} ${JSON.stringify(call.arguments)}`,
  ]
}

function conversationOf(example: Example): string[] {
  let number = 0
  return example.exchanges.flatMap(({ user, calls, assistant }) => [
    wrapped(user, 'user: '),
    ...calls.map((call) => renderCall(call, number++, example)),
    wrapped(assistant, 'assistant: '),
  ])
}

function renderCall(call: ReferenceCall, number: number, { origins }: Example): string {
  const place = call.truth === null ? 'failed' : `ground truth ${call.truth}`
  const { response } = call
  const shown = response.length > RESPONSE_LENGTH ? `${response.slice(0, RESPONSE_LENGTH)}…` : response
  const sources = call.truth === null ? {} : (origins[call.truth] ?? {})
  return [
    `  call ${number} (${place}): ${call.environment}:${call.name} ${JSON.stringify(call.arguments)}`,
    ...Object.entries(sources).map(([argument, origin]) => `    ${argument} is from ${sourceOf(origin)}`),
    wrapped(shown, call.ok ? '    -> ' : '    failed: '),
  ].join('\n')
}

function sourceOf(origin: Origin): string {
  const phrase = origin.phrase === '' ? '' : `: ${JSON.stringify(origin.phrase)}`
  if (origin.from === 'context') return `the system message${phrase}`
  return origin.from === 'user'
    ? `user turn ${origin.turn}${phrase}`
    : `the result of ground truth ${origin.call}${phrase}`
}

function toolsetOf({ task, exchanges }: Example): string {
  const own = ownEnvironments(task)
  const called = new Set(
    exchanges.flatMap(({ calls }) => calls.map(({ environment, name }) => `${environment}:${name}`)),
  )
  const lines = task.toolset.map(({ environment, tool, from }) => {
    const mark = called.has(`${environment}:${tool}`) ? '*' : own.has(environment) ? ' ' : '-'
    return `  ${mark} ${environment}:${tool}${from === undefined ? '' : `, from user turn ${from} on`}`
  })
  const enums = task.stripEnums ? '; enum values omitted' : ''
  return [`${countOf(task.toolset.length, 'offered tool')} (* called, - distractor${enums})`, ...lines].join('\n')
}

/** Wraps a text at spaces, with `lead` before the first line and the same indentation before the others. Lines keep their leading spaces. */
function wrapped(text: string, lead: string): string {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    const [first, ...others] = paragraph.split(/(?<=[^ ]) /)
    let line = first!
    for (const word of others) {
      if (lead.length + line.length + 1 + word.length > WIDTH) {
        lines.push(line)
        line = word
      } else line += ` ${word}`
    }
    lines.push(line)
  }
  return lines.map((line, i) => (i === 0 ? lead : ' '.repeat(lead.length)) + line).join('\n')
}

/** Escapes all control characters but the line feed, because a terminal would execute those of a hostile file. */
function printable(text: string): string {
  return text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Returns statistics of examples as tables for a terminal. */
export async function renderOverview(examples: AsyncIterable<Example>): Promise<string> {
  const statistics = emptyStatistics()
  for await (const example of examples) countExample(statistics, example)
  const kinds = table(
    ['split', ...KINDS, 'all'],
    [...SPLITS.map((split): [string, Tally<string>] => [split, statistics.kinds.get(split)!])]
      .filter(([, tally]) => tally.size > 0)
      .map(([split, tally]) => [split, ...KINDS.map((kind) => tally.get(kind) ?? 0), sumOf(tally)]),
  )
  const shares = (head: string, tally: Tally<number> | Tally<string>, of: number): string =>
    table([head, 'examples', 'share'], rowsOf(tally, of))
  const multiTurn = ofKind(statistics, 'multi-turn')
  return printable(
    `${[
      kinds,
      shares('user turns (multi-turn)', statistics.userTurns, multiTurn),
      shares('tools in the chain (multi-turn)', statistics.chainLengths, multiTurn),
      shares('information (multi-turn)', statistics.information, multiTurn),
      shares('recovery (multi-turn)', statistics.recovery, multiTurn),
      shares('distractors (no abstentions)', statistics.distractors, sumOf(statistics.distractors)),
      shares('environment (no abstentions)', statistics.environments, sumOf(statistics.distractors)),
    ].join('\n')}\n`,
  )
}

function rowsOf(tally: ReadonlyMap<number | string, number>, of: number): (string | number)[][] {
  return [...tally]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([value, n]) => [value, n, `${((100 * n) / Math.max(of, 1)).toFixed(1)} %`])
}

function table(head: string[], rows: readonly (string | number)[][]): string {
  const drawn = new Table({
    head,
    style: { head: [], border: [], compact: true },
    colAligns: ['left', ...head.slice(1).map(() => 'right' as const)],
  })
  drawn.push(...rows)
  return drawn.toString()
}

import { posix } from 'node:path'
import wrapAnsi from 'wrap-ansi'
import { stringify } from 'yaml'
import { configFields } from './describe-fields.js'

/** Columns of a comment. */
const WIDTH = 110

const HEAD = `# A run of PROVE. A line that begins with # shows a default; remove the # to change it. Relative paths are relative to
# this file. docs/reference/configuration.md describes every field, and what happens when it changes during a run.`

/** Value of a field in a new run.yaml. */
export interface FieldValue {
  readonly value: unknown
  /** Reason for the value, if the operator did not choose it. */
  readonly why?: string
}

/**
 * Returns the text of a new `run.yaml` with a comment for every field. Given fields have their values, the others are commented out and
 * show their defaults.
 * @param values  by field path
 */
export function runFileText(values: ReadonlyMap<string, FieldValue>): string {
  const lines = [HEAD]
  let open: readonly string[] = []
  for (const { path, standard, meaning } of configFields()) {
    const parts = path.split('.')
    const [parents, name] = [parts.slice(0, -1), parts.at(-1)!]
    if (parents.length === 0 || parents[0] !== open[0]) lines.push('')
    for (const [depth, parent] of parents.entries()) {
      if (open[depth] === parent) continue
      const prefix = `${parents.slice(0, depth + 1).join('.')}.`
      const isGiven = [...values.keys()].some((given) => given.startsWith(prefix))
      lines.push(`${isGiven ? '' : '#'}${'  '.repeat(depth)}${parent}:`)
    }
    open = parents
    const indent = '  '.repeat(parents.length)
    const given = values.get(path)
    const comment = given?.why === undefined ? firstSentence(meaning) : `${firstSentence(meaning)}. ${given.why}`
    lines.push(
      ...wrapAnsi(comment, WIDTH)
        .split('\n')
        .map((line) => `${indent}# ${line}`),
    )
    const text = given ? yamlOf(name, given.value) : standard === undefined ? `${name}:` : yamlOf(name, standard)
    lines.push(...text.split('\n').map((line) => `${given ? '' : '#'}${indent}${line}`))
  }
  return `${lines.join('\n')}\n`
}

const yamlOf = (name: string, value: unknown): string => stringify({ [name]: value }, { lineWidth: 0 }).trimEnd()

/** Returns the first sentence as plain text, with paths from the root of the checkout instead of links. */
function firstSentence(markdown: string): string {
  const text = markdown
    .replaceAll(/ \(\[[^)]*\)[^)]*\)/g, '')
    .replaceAll(/\[[^\]]*\]\(([^)#]*)[^)]*\)/g, (_, page: string) => posix.join('docs/reference', page))
  const end = text.search(/\. [A-Z]/)
  return (end < 0 ? text : text.slice(0, end)).replaceAll('`', '')
}

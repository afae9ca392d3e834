import { z } from 'zod'
import { excerpt } from '../../kernel/text.js'
import { differences, joinWithin, linesOf } from '../contents.js'
import { sought } from '../edits.js'
import { readableText } from '../lookup.js'
import { type Matter, matterOf } from '../matter.js'
import { stemOf } from '../naming.js'
import { currentUser, isWithin } from '../paths.js'
import { chooseText, isReadable, say } from '../sampling.js'
import { fileKey, type Node, tool } from '../schema.js'

const matching = (node: Node, text: string): { line: number; text: string }[] => {
  return linesOf(node.text).flatMap((line, i) =>
    line.includes(text) ? [{ line: i + 1, text: excerpt(line, 60) }] : [],
  )
}

const searchInFile = tool({
  name: 'search_in_file',
  description: 'Show the lines of one text file that have a text in them, in exactly that case, with their numbers.',
  input: z.strictObject({
    file: fileKey(),
    text: z.string().min(1).max(60).describe('Text to look for, capitals count.'),
  }),
  output: z.object({
    name: z.string(),
    found: z.int(),
    matches: z.array(z.object({ line: z.int(), text: z.string() })),
  }),
  pages: { matches: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const chosen = chooseText(context, context.bound.file)
    const text = context.bound.text ?? (chosen && sought(context.random, chosen.node.text))
    return chosen && text !== undefined ? { file: chosen.path, text } : null
  },
  run({ file, text }, context) {
    const node = readableText(context, file)
    const matches = matching(node, text)
    return { name: node.name, found: matches.length, matches }
  },
})

/** What people look at in another order, and what in the order of how often it occurs. */
const LISTS: readonly Matter[] = ['groceries', 'belongings', 'books', 'topics', 'costs', 'companies']
const REPEATING: readonly Matter[] = ['groceries', 'log']

const ORDERS = ['alphabetical', 'reverse', 'frequency'] as const

/** Each different line once with the number of times it occurs, the most frequent first. */
function tally(lines: readonly string[]): string[] {
  const times = new Map<string, number>()
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1)
  return [...times].sort(([, a], [, b]) => b - a).map(([line, count]) => `${count} ${line}`)
}

const sortLines = tool({
  name: 'sort_lines',
  description:
    'Show the lines of a text file in order without changing it: alphabetical, reverse, or by frequency, which shows each different line once after the number of times it occurs.',
  input: z.strictObject({ file: fileKey(), order: z.enum(ORDERS).describe('How the lines are arranged.') }),
  output: z.object({ name: z.string(), lines: z.int(), text: z.string() }),
  annotations: { readOnly: true },
  sample(context) {
    const { bound, random } = context
    const ordersOf = (node: Node) =>
      ORDERS.filter((order) => (order === 'frequency' ? REPEATING : LISTS).includes(matterOf(node)))
    const orders = (node: Node) => ordersOf(node).filter((order) => order === (bound.order ?? order))
    const chosen = chooseText(context, bound.file, 3, (node) => orders(node).length > 0)
    return chosen ? { file: chosen.path, order: random.pick(orders(chosen.node)) } : null
  },
  run({ file, order }, context) {
    const node = readableText(context, file)
    const lines = linesOf(node.text)
    const sorted = order === 'frequency' ? tally(lines) : lines.sort()
    if (order === 'reverse') sorted.reverse()
    return { name: node.name, lines: sorted.length, text: joinWithin(sorted, 420) }
  },
})

const compareFiles = tool({
  name: 'compare_files',
  description:
    'Compare two text files line by line: the lines to take out of the first (`- `) and to add (`+ `) to get the second.',
  input: z.strictObject({ file: fileKey(), other_file: fileKey('Path of the file to compare it with') }),
  output: z.object({ identical: z.boolean(), removed: z.int(), added: z.int(), changes: z.array(z.string()) }),
  pages: { changes: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const { bound, db, random } = context
    // Somebody compares versions of one thing, or one thing of several projects; what others have at home is theirs.
    const { home } = currentUser(db)
    const isNear = ({ path }: Node): boolean => isWithin(path, home) || !isWithin(path, '/home')
    const isKin = (node: Node, other: Node): boolean =>
      node.path !== other.path && isNear(other) && matterOf(node) === matterOf(other) && stemOf(node) === stemOf(other)
    const given = bound.other_file === undefined ? undefined : chooseText(context, bound.other_file)
    if (bound.other_file !== undefined && !given) return null
    const texts = db.nodes.list(({ kind }) => kind === 'text')
    const fits = (node: Node): boolean =>
      given ? isKin(node, given.node) : texts.some((other) => isKin(node, other) && isReadable(context, other))
    const chosen = chooseText(context, bound.file, 1, fits)
    if (!chosen) return null
    if (given) return { file: chosen.path, other_file: given.path }
    const kin = texts.filter((other) => isKin(chosen.node, other) && isReadable(context, other))
    return { file: chosen.path, other_file: say(context, random.pick(kin)) }
  },
  run({ file, other_file }, context) {
    const first = readableText(context, file)
    const second = readableText(context, other_file)
    if (first.path === second.path) context.fail('same_file', `Both paths lead to ${first.path}.`)
    const changes = differences(first.text, second.text)
    const removed = changes.filter((change) => change.startsWith('- ')).length
    return {
      identical: first.text === second.text,
      removed,
      added: changes.length - removed,
      changes: changes.map((change) => excerpt(change, 60)),
    }
  },
})

export const analysingTools = [searchInFile, sortLines, compareFiles]

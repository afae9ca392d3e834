import { z } from 'zod'
import { directoryAt, make, reach, refill, textContent } from '../changes.js'
import { asStored, linesOf } from '../contents.js'
import { type Edit, editsOf, linesFor } from '../edits.js'
import { textAt } from '../lookup.js'
import { noteFor } from '../naming.js'
import { currentUser, join } from '../paths.js'
import { changeObstacle, entryObstacle, quotaObstacle } from '../rules.js'
import { choose, chooseDirectory, isShort } from '../sampling.js'
import {
  type Context,
  directoryKey,
  type FilesystemView,
  fileKey,
  LIMITS,
  lineField,
  type Node,
  nameField,
  tool,
} from '../schema.js'

/** Room that samples leave in a file and in a quota, for the longest line. Bytes. */
const SPARE = 200

/** Whether the current user can write a little more into a text file. */
function takesMore(db: FilesystemView, node: Node): boolean {
  return (
    node.kind === 'text' &&
    changeObstacle(db, currentUser(db), node) === undefined &&
    node.bytes + SPARE <= LIMITS.textBytes &&
    quotaObstacle(db, node.owner, SPARE, 0) === undefined
  )
}

/** Gives a text file a new text, if it may be changed and is not too long. */
function rewrite(context: Context, node: Node, text: string): Node {
  context.unless(changeObstacle(context.db, currentUser(context.db), node))
  return refill(context, node, withinLimit(context, text))
}

function withinLimit(context: Context, text: string): ReturnType<typeof textContent> {
  const content = textContent(text)
  return content.bytes <= LIMITS.textBytes
    ? content
    : context.fail('file_too_large', `That would be ${content.bytes} bytes; ${LIMITS.textBytes} are allowed.`)
}

const writeFile = tool({
  name: 'write_file',
  description:
    'Write a text file in a directory. A text file of that name is overwritten unless if_exists is keep, with which the call fails. New files can be written by their owner and read by all (644).',
  input: z.strictObject({
    directory: directoryKey('Directory in which the file is written'),
    name: nameField.describe('Name of the file.'),
    text: z.string().min(1).max(400).describe('The whole content.'),
    if_exists: z
      .enum(['overwrite', 'keep'])
      .describe('What happens to a file of that name; overwrite if not given.')
      .optional(),
  }),
  output: z.object({ name: z.string(), file: fileKey(), bytes: z.int(), status: z.enum(['created', 'overwritten']) }),
  annotations: { readOnly: false, destructive: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    if (quotaObstacle(db, user.user, SPARE, 1)) return null
    const takes = (node: Node, name: string): boolean => entryObstacle(db, user, node, name) === undefined
    const noteIn = (node: Node) => noteFor(random, node, (name) => takes(node, bound.name ?? name))
    const place = chooseDirectory(context, bound.directory, (node) => isShort(node) && noteIn(node) !== undefined)
    const note = place && noteIn(place.node)
    if (!place || !note) return null
    const choice = bound.if_exists ?? (random.chance(0.2) ? 'overwrite' : undefined)
    return {
      directory: place.path,
      name: bound.name ?? note[0],
      text: bound.text ?? note[1],
      ...(choice === undefined ? {} : { if_exists: choice }),
    }
  },
  run({ directory, name, text, if_exists }, context) {
    const { db, fail } = context
    const place = directoryAt(context, directory)
    const path = join(place.path, name)
    const content = withinLimit(context, asStored(text))
    if (!db.nodes.has(path)) {
      const file = make(context, place, name, content)
      return { name, file: file.path, bytes: file.bytes, status: 'created' as const }
    }
    if (if_exists === 'keep') fail('already_exists', `${path} exists already.`)
    const existing = reach(context, path)
    if (existing.kind === 'directory') fail('is_a_directory', `${existing.path} is a directory.`)
    if (existing.kind !== 'text') fail('not_text', `${existing.path} is a ${existing.kind}, not a text file.`)
    const file = rewrite(context, existing, content.text)
    return { name: file.name, file: file.path, bytes: file.bytes, status: 'overwritten' as const }
  },
})

const appendToFile = tool({
  name: 'append_to_file',
  description: `Add a line at the end of an existing text file. Needs write permission; a text file may have ${LIMITS.textBytes} bytes.`,
  input: z.strictObject({ file: fileKey(), text: lineField.describe('One line, without its line break.') }),
  output: z.object({ name: z.string(), file: fileKey(), lines: z.int(), bytes: z.int() }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const chosen = choose(
      context,
      bound.file,
      (node) => takesMore(db, node) && !node.name.endsWith('.lock') && linesFor(random, node).length > 0,
    )
    return chosen ? { file: chosen.path, text: bound.text ?? random.pick(linesFor(random, chosen.node)) } : null
  },
  run({ file, text }, context) {
    const node = textAt(context, file)
    const { name, path, bytes, text: stored } = rewrite(context, node, asStored(node.text) + asStored(text))
    return { name, file: path, lines: linesOf(stored).length, bytes }
  },
})

const replaceText = tool({
  name: 'replace_text',
  description:
    'Replace a text by another wherever it occurs in a text file, in exactly that case. Needs write permission.',
  input: z.strictObject({
    file: fileKey(),
    old_text: z.string().min(1).max(100).describe('Text to be replaced, capitals count.'),
    new_text: z.string().max(100).describe('What takes its place.'),
  }),
  output: z.object({ name: z.string(), file: fileKey(), replaced: z.int(), bytes: z.int() }),
  annotations: { readOnly: false, destructive: true },
  sample(context) {
    const { db, random, bound } = context
    const wanted = (node: Node): readonly Edit[] =>
      editsOf(random, node).filter(({ from }) => from === (bound.old_text ?? from))
    const chosen = choose(context, bound.file, (node) => takesMore(db, node) && wanted(node).length > 0)
    if (!chosen) return null
    const { from, to } = random.pick(wanted(chosen.node))
    return { file: chosen.path, old_text: from, new_text: bound.new_text ?? to }
  },
  run({ file, old_text, new_text }, context) {
    const node = textAt(context, file)
    context.unless(changeObstacle(context.db, currentUser(context.db), node))
    const parts = node.text.split(old_text)
    if (parts.length === 1) context.fail('text_not_found', `"${old_text}" does not occur in ${node.path}.`)
    const { name, path, bytes } = rewrite(context, node, asStored(parts.join(new_text)))
    return { name, file: path, replaced: parts.length - 1, bytes }
  },
})

export const editingTools = [writeFile, appendToFile, replaceText]

import { z } from 'zod'
import { common } from '../../kernel/fields.js'
import { excerpt } from '../../kernel/text.js'
import { fileAt } from '../changes.js'
import { checksumOf, joinWithin, linesOf } from '../contents.js'
import { readableText } from '../lookup.js'
import { octal } from '../rules.js'
import { choose, chooseText } from '../sampling.js'
import { fileKey, tool } from '../schema.js'

/** Characters of a file's content in one result. */
const ROOM = 420

const readFile = tool({
  name: 'read_file',
  description: `Read a text file from its beginning, up to ${ROOM} characters. Needs read permission; links are followed.`,
  input: z.strictObject({ file: fileKey() }),
  output: z.object({ name: z.string(), file: fileKey(), lines: z.int(), text: z.string() }),
  annotations: { readOnly: true },
  sample(context) {
    const chosen = chooseText(context, context.bound.file)
    return chosen ? { file: chosen.path } : null
  },
  run({ file }, context) {
    const node = readableText(context, file)
    return { name: node.name, file: node.path, lines: linesOf(node.text).length, text: excerpt(node.text, ROOM) }
  },
})

const readLines = tool({
  name: 'read_lines',
  description: 'Read the first or the last lines of a text file.',
  input: z.strictObject({
    file: fileKey(),
    part: z.enum(['first', 'last']).describe('Which end of the file.'),
    lines: z.int().min(1).max(20).describe('How many lines.'),
  }),
  output: z.object({
    name: z.string(),
    from_line: z.int().describe('Number of the first line shown.'),
    text: z.string(),
  }),
  annotations: { readOnly: true },
  sample(context) {
    const { bound, random } = context
    const chosen = chooseText(context, bound.file, 2)
    if (!chosen) return null
    const part = bound.part ?? random.pick(['first', 'last'] as const)
    const most = Math.min(5, linesOf(chosen.node.text).length)
    return { file: chosen.path, part, lines: bound.lines ?? random.int(2, most) }
  },
  run({ file, part, lines }, context) {
    const node = readableText(context, file)
    const all = linesOf(node.text)
    const from = part === 'first' ? 0 : Math.max(0, all.length - lines)
    return { name: node.name, from_line: from + 1, text: joinWithin(all.slice(from, from + lines), ROOM) }
  },
})

const countLines = tool({
  name: 'count_lines',
  description: 'Count the lines, words and bytes of a text file.',
  input: z.strictObject({ file: fileKey() }),
  output: z.object({ name: z.string(), lines: z.int(), words: z.int(), bytes: z.int() }),
  annotations: { readOnly: true },
  sample(context) {
    const chosen = chooseText(context, context.bound.file)
    return chosen ? { file: chosen.path } : null
  },
  run({ file }, context) {
    const { name, text, bytes } = readableText(context, file)
    return { name, lines: linesOf(text).length, words: text.match(/\S+/g)?.length ?? 0, bytes }
  },
})

const showFileInfo = tool({
  name: 'show_file_info',
  description:
    'Show kind, size, modification time, owner, group, permissions and checksum of a file, and of a photo when and where it was taken. Needs no permission on the file itself; links are followed.',
  input: z.strictObject({ file: fileKey() }),
  output: z.object({
    name: z.string(),
    file: fileKey(),
    kind: z.string(),
    bytes: z.int(),
    modified: z.string(),
    owner: z.string(),
    group: z.string(),
    mode: z.string(),
    checksum: z.string().describe('Eight digits that depend on the content alone.'),
    taken: common('date', z.string()).optional(),
    city: common('city', z.string()).optional(),
  }),
  annotations: { readOnly: true },
  sample(context) {
    const chosen = choose(context, context.bound.file, ({ kind }) => kind !== 'directory' && kind !== 'link')
    return chosen ? { file: chosen.path } : null
  },
  run({ file }, context) {
    const node = fileAt(context, file)
    const { name, path, kind, bytes, modified, owner, group, mode, photo } = node
    return {
      name,
      file: path,
      kind,
      bytes,
      modified,
      owner,
      group,
      mode: octal(mode),
      checksum: checksumOf(node),
      ...(photo && { taken: photo.taken, city: photo.city }),
    }
  },
})

export const readingTools = [readFile, readLines, countLines, showFileInfo]

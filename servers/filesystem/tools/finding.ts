import { z } from 'zod'
import { ascending } from '../../kernel/lists.js'
import { excerpt } from '../../kernel/text.js'
import { sought } from '../edits.js'
import { reachable } from '../lookup.js'
import { below, byPath, currentUser, fitsPattern, isObstacle, permits, walk, workingDirectory } from '../paths.js'
import { isFile, listingObstacle, READ } from '../rules.js'
import { chooseDirectory, type Spoken } from '../sampling.js'
import { directoryKey, fileKey, type Node, type Sampling, tool } from '../schema.js'

const patternField = z
  .string()
  .min(1)
  .max(32)
  .describe('A whole name; `*` stands for any characters and `?` for one, such as budget*.csv.')
const scopeField = directoryKey('Where to search; the working directory if not given').optional()

/** A directory to search, said or left out, with what can be found in it; nothing when nothing fits. */
function chooseScope(
  context: Sampling,
  bound: string | undefined,
  fits: (node: Node) => boolean,
): { scope: Spoken | undefined; hits: Node[] } | undefined {
  const { db, random } = context
  const user = currentUser(db)
  const here = walk(db, workingDirectory(db))
  const hitsIn = (node: Node): Node[] => (listingObstacle(user, node) ? [] : below(db, user, node).filter(fits))
  if (bound === undefined && random.chance(0.6) && !isObstacle(here)) {
    const hits = hitsIn(here)
    if (hits.length > 0) return { scope: undefined, hits }
  }
  const scope = chooseDirectory(context, bound, (node) => hitsIn(node).length > 0)
  return scope && { scope, hits: hitsIn(scope.node) }
}

/** A pattern that finds `name`: itself, its beginning or its ending. */
function patternFor({ random }: Sampling, name: string): string {
  const point = name.lastIndexOf('.')
  const stem = /^[A-Za-z]+/.exec(name)?.[0] ?? name
  const ways = [name, name]
  if (stem.length >= 3 && stem.length < name.length) ways.push(`${stem}*`)
  if (point > 0 && random.chance(0.4)) ways.push(`*${name.slice(point)}`)
  return random.pick(ways).slice(0, 32)
}

const findFiles = tool({
  name: 'find_files',
  description: 'Find files (not directories or links) by name, beneath a directory or else the working directory.',
  input: z.strictObject({ pattern: patternField, directory: scopeField }),
  output: z.object({
    found: z.int(),
    files: z.array(z.object({ name: z.string(), file: fileKey(), modified: z.string() })),
  }),
  pages: { files: 'short' },
  annotations: { readOnly: true },
  needs: ['working_directory_chosen'],
  sample(context) {
    const { bound, random } = context
    const { pattern } = bound
    const chosen = chooseScope(
      context,
      bound.directory,
      (node) => isFile(node) && (pattern === undefined || fitsPattern(node.name, pattern)),
    )
    if (!chosen) return null
    // Archives are few, and what can be done with them begins with finding one.
    const archives = random.chance(0.25) ? chosen.hits.filter(({ kind }) => kind === 'archive') : []
    return {
      pattern: pattern ?? patternFor(context, random.pick(archives.length > 0 ? archives : chosen.hits).name),
      ...(chosen.scope && { directory: chosen.scope.path }),
    }
  },
  run({ pattern, directory }, context) {
    const files = reachable(context, directory ?? '.')
      .filter((node) => isFile(node) && fitsPattern(node.name, pattern))
      .sort(byPath)
    return {
      found: files.length,
      files: files.map(({ name, path, modified }) => ({ name, file: path, modified })),
    }
  },
})

const findDirectories = tool({
  name: 'find_directories',
  description: 'Find directories by name, beneath a directory or else the working directory.',
  input: z.strictObject({ pattern: patternField, directory: scopeField }),
  output: z.object({
    found: z.int(),
    directories: z.array(z.object({ name: z.string(), directory: directoryKey(), owner: z.string() })),
  }),
  pages: { directories: 'short' },
  annotations: { readOnly: true },
  needs: ['working_directory_chosen'],
  sample(context) {
    const { bound, random } = context
    const { pattern } = bound
    const chosen = chooseScope(
      context,
      bound.directory,
      ({ kind, name }) => kind === 'directory' && (pattern === undefined || fitsPattern(name, pattern)),
    )
    if (!chosen) return null
    return {
      pattern: pattern ?? patternFor(context, random.pick(chosen.hits).name),
      ...(chosen.scope && { directory: chosen.scope.path }),
    }
  },
  run({ pattern, directory }, context) {
    const directories = reachable(context, directory ?? '.')
      .filter(({ kind, name }) => kind === 'directory' && fitsPattern(name, pattern))
      .sort(byPath)
    return {
      found: directories.length,
      directories: directories.map(({ name, path, owner }) => ({ name, directory: path, owner })),
    }
  },
})

/** The line on which `text` first occurs, and its number from 1; nothing when it does not. */
function mention({ text: all }: Node, text: string): { line: number; said: string } | undefined {
  const at = all.indexOf(text)
  if (at < 0) return undefined
  const from = all.lastIndexOf('\n', at - 1) + 1
  let line = 1
  for (let i = all.indexOf('\n'); i >= 0 && i < at; i = all.indexOf('\n', i + 1)) line++
  return { line, said: all.slice(from, all.indexOf('\n', at)) }
}

const searchText = tool({
  name: 'search_text',
  description:
    'Search the contents of text files, in exactly that case, beneath a directory or else the working directory; shows the first line of each file that has the text.',
  input: z.strictObject({
    text: z.string().min(2).max(60).describe('Text to look for, capitals count.'),
    directory: scopeField,
  }),
  output: z.object({
    found: z.int(),
    files: z.array(z.object({ name: z.string(), file: fileKey(), line: z.int(), text: z.string() })),
  }),
  pages: { files: 'short' },
  annotations: { readOnly: true },
  needs: ['working_directory_chosen'],
  sample(context) {
    const { bound, db, random } = context
    const user = currentUser(db)
    const said = bound.text
    const chosen = chooseScope(
      context,
      bound.directory,
      (node) =>
        node.kind === 'text' &&
        node.text !== '' &&
        permits(user, node, READ) &&
        (said === undefined || node.text.includes(said)),
    )
    if (!chosen) return null
    const { hits } = chosen
    const draws = bound.text ? [bound.text] : [0, 1, 2, 3].flatMap(() => sought(random, random.pick(hits).text) ?? [])
    // The rarest of a few words: most searches should lead to one to three files.
    const hitsOf = (text: string): number => hits.filter((node) => node.text.includes(text)).length
    const [text] = draws.map((draw) => ({ draw, hits: hitsOf(draw) })).sort(ascending('hits'))
    return text ? { text: text.draw, ...(chosen.scope && { directory: chosen.scope.path }) } : null
  },
  run({ text, directory }, context) {
    const user = currentUser(context.db)
    const files = reachable(context, directory ?? '.')
      .filter((node) => node.kind === 'text' && node.text.includes(text) && permits(user, node, READ))
      .sort(byPath)
    return {
      found: files.length,
      files: files.map((node) => {
        const { line, said } = mention(node, text)!
        return { name: node.name, file: node.path, line, text: excerpt(said, 44) }
      }),
    }
  },
})

export const findingTools = [findFiles, findDirectories, searchText]

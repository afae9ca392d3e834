// Checks the documents: every link leads to a file and to a heading that exist, and every page of docs/ has its place in the sidebar.
// Usage: node scripts/docs-links.mjs
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pagesInOrder, slugOf } from '../docs/.vitepress/pages.mjs'

const { parse } = createRequire(import.meta.url)('@textlint/markdown-to-ast')
const root = fileURLToPath(new URL('..', import.meta.url))

/** All nodes of a tree of Markdown, of these types. */
const nodesOf = (node, types) => [
  ...(types.includes(node.type) ? [node] : []),
  ...(node.children ?? []).flatMap((child) => nodesOf(child, types)),
]

const textOf = (node) => node.value ?? node.alt ?? (node.children ?? []).map(textOf).join('')

/** Targets of the links and pictures of a document, also of those in HTML. */
function targetsOf(tree) {
  const ofHtml = nodesOf(tree, ['Html']).flatMap(({ value }) => [...value.matchAll(/(?:href|src(?:set)?)="([^"\s]+)/g)])
  return [...nodesOf(tree, ['Link', 'Image', 'Definition']).map(({ url }) => url), ...ofHtml.map(([, url]) => url)]
}

/** Anchors of the headings, which GitHub and the site number when a heading repeats. */
function anchorsOf(tree) {
  const seen = new Map()
  return new Set(
    nodesOf(tree, ['Header']).map((heading) => {
      const slug = slugOf(textOf(heading))
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    }),
  )
}

/**
 * @param {Map<string, string>} documents  texts by path from the root of the repository
 * @param {(path: string) => boolean} exists
 * @returns {string[]} the dead links, each with its document
 */
export function deadLinks(documents, exists) {
  const trees = new Map([...documents].map(([path, text]) => [path, parse(text)]))
  const anchors = new Map([...trees].map(([path, tree]) => [path, anchorsOf(tree)]))
  return [...trees].flatMap(([path, tree]) =>
    targetsOf(tree)
      .filter((target) => !/^[a-z]+:/i.test(target))
      .flatMap((target) => {
        const [file, anchor] = target.split('#')
        const full = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file))
        if (!exists(full)) return [`${path} links to ${target}: there is no file ${full}`]
        if (anchor === undefined || !anchors.has(full) || anchors.get(full).has(anchor)) return []
        return [`${path} links to ${target}: ${full} has no heading "${anchor}"`]
      }),
  )
}

/** @returns {string[]} the pages of docs/ without a place in the sidebar, and places without a page or with one too many */
export function misplaced(pages, order) {
  return [
    ...pages
      .filter((page) => !order.includes(page))
      .map((page) => `docs/${page} has no place: add it to GROUPS in docs/.vitepress/pages.mjs`),
    ...order
      .filter((page) => !pages.includes(page))
      .map((page) => `docs/.vitepress/pages.mjs names ${page}: there is no such page`),
    ...order
      .filter((page, i) => order.indexOf(page) !== i)
      .map((page) => `docs/.vitepress/pages.mjs names ${page} twice`),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--', '*.md', ':!test', ':!.github'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  const paths = listed.split('\n').filter((path) => path !== '' && existsSync(`${root}${path}`))
  const documents = new Map(paths.map((path) => [path, readFileSync(`${root}${path}`, 'utf8')]))
  const pages = paths.filter((path) => path.startsWith('docs/')).map((path) => path.slice('docs/'.length))
  const faults = [
    ...deadLinks(documents, (path) => existsSync(`${root}${path}`)),
    ...misplaced(pages, ['index.md', ...pagesInOrder()]),
  ]
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

const read = (name: string): string => readFileSync(join(checkout, name), 'utf8')

type Table = Readonly<Record<string, readonly string[]>>
const { MAY_IMPORT, COORDINATOR_SUBPACKAGES, NODE_SUBPACKAGES } = createRequire(import.meta.url)(
  join(checkout, 'scripts', 'import-rules.cjs'),
) as Readonly<Record<'MAY_IMPORT' | 'COORDINATOR_SUBPACKAGES' | 'NODE_SUBPACKAGES', Table>>

/** What the rules allow, as rows of the document. */
const allowedBy = (rules: Table): [string, string][] =>
  Object.entries(rules).map(([name, may]) => [`${name}/`, may.join(', ') || '-'])

/** Rows of the table that follows a heading of docs/explain/architecture.md. */
function documented(heading: string): [string, string][] {
  const section = read('docs/explain/architecture.md').split(`\n${heading}\n`)[1]!
  const table = section.split(/\| (?:sub)?package \| contents \| may import \|\n/)[1]!.split('\n\n')[0]!
  return [...table.matchAll(/^\| `([a-z/-]+\/)` \| .* \| (.*) \|$/gm)].map(([, name, may]) => [name!, may!])
}

/** Folders of a folder that hold code of this project, without the trainer's Python. */
const foldersIn = (path: string): string[] =>
  readdirSync(join(checkout, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'trainer')
    .map(({ name }) => name)

test('the table of packages states what the import rules allow, and names every folder of code', () => {
  assert.equal(documented('## Packages'), allowedBy(MAY_IMPORT))
  const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] }
  const top = Object.keys(MAY_IMPORT).map((name) => name.split('/')[0]!)
  assert.equal(include.filter((name) => name !== 'test').sort(), [...new Set(top)].sort())
  for (const group of ['common', 'rollout', 'tasks']) {
    const packages = Object.keys(MAY_IMPORT).filter((name) => name.startsWith(`${group}/`))
    if (group === 'common') packages.push('common/errors')
    assert.equal(
      foldersIn(group)
        .map((name) => `${group}/${name}`)
        .sort(),
      packages.sort(),
    )
  }
})

for (const [name, rules] of [
  ['coordinator', COORDINATOR_SUBPACKAGES],
  ['node', NODE_SUBPACKAGES],
] as const) {
  test(`the table of the subpackages of the ${name} states what the import rules allow, and names every folder`, () => {
    assert.equal(documented(`### Subpackages of the ${name}`), allowedBy(rules))
    assert.equal(foldersIn(name).sort(), Object.keys(rules).sort())
  })
}

test('the first screen of the repository is the architecture', () => {
  const hidden = /^(\.|node_modules$|dist$)/
  const top = foldersIn('.').filter((name) => !hidden.test(name))
  assert.ok(top.length <= 17, top.join(' '))
})

/** Names in the first column of the tables of docs/contribute/decisions.md. */
const decided = [...read('docs/contribute/decisions.md').matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names]) =>
  names!.split(', ').map((name) => name.replaceAll('`', '')),
)

test('every dependency says in docs/contribute/decisions.md what it earns its place with, and no other is listed', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  const python = ['requirements.txt', 'requirements-test.txt'].flatMap((name) =>
    [...read(`coordinator/trainer/${name}`).matchAll(/^([a-z][\w-]*)==/gm)].map(([, pack]) => pack!),
  )
  // The first package of this environment. The others are those that it imports.
  const [, benchmark] = /^([a-z][\w-]*)==/m.exec(read('lab/bfcl/requirements.txt'))!
  const { devDependencies: site } = JSON.parse(read('docs/package.json'))
  const used = [dependencies, devDependencies, site].flatMap(Object.keys).concat(python, benchmark!)
  assert.equal(
    used.filter((name) => !decided.includes(name)),
    [],
    'not explained',
  )
  assert.equal(
    decided.filter((name) => !used.includes(name)),
    [],
    'no dependency',
  )
})

test.run()

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../../support/checkout.js'

const read = (name: string): string => readFileSync(join(checkout, name), 'utf8')

const { forbidden } = createRequire(import.meta.url)(join(checkout, '.dependency-cruiser.cjs')) as {
  forbidden: { name: string; to: { path: string } }[]
}

/** What the rules of one kind allow, as rows of the document: the others of that kind that a rule does not ban. */
function allowedBy(kind: 'rooms' | 'wings'): [string, string][] {
  const rules = forbidden.filter(({ name }) => name.startsWith(`${kind}-`))
  const names = rules.map(({ name }) => name.replace(`${kind}-`, ''))
  return rules.map(({ to }, i) => {
    const banned = to.path.match(/\(([a-z|]*)\)/)![1]!.split('|')
    const others = names.filter((name) => name !== names[i] && !banned.includes(name))
    return [`${names[i]}/`, others.join(', ') || '-']
  })
}

/** Rows of the table of docs/architecture.md whose first column is called so. */
function documented(column: 'room' | 'wing'): [string, string][] {
  const table = read('docs/architecture.md')
    .split(`| ${column} | what lives there | may import |\n`)[1]!
    .split('\n\n')[0]!
  return [...table.matchAll(/^\| `([a-z]+\/)` \| .* \| (.*) \|$/gm)].map(([, name, may]) => [name!, may!])
}

test('the table of rooms says what the import rules allow, and names every folder of code', () => {
  assert.equal(documented('room'), allowedBy('rooms'))
  const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] }
  const rooms = documented('room').map(([name]) => name.slice(0, -1))
  assert.equal(include.filter((name) => !['errors', 'test', 'bench'].includes(name)).sort(), rooms.toSorted())
})

test("the table of the coordinator's wings says what the import rules allow, and names every folder", () => {
  assert.equal(documented('wing'), allowedBy('wings'))
  const folders = readdirSync(join(checkout, 'coordinator'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'trainer')
    .map(({ name }) => `${name}/`)
  assert.equal(
    folders.sort(),
    documented('wing')
      .map(([name]) => name)
      .toSorted(),
  )
})

/** Names in the first column of the tables of docs/decisions.md. */
const decided = [...read('docs/decisions.md').matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names]) =>
  names!.split(', ').map((name) => name.replaceAll('`', '')),
)

test('every dependency says in docs/decisions.md what it earns its place with, and no other is listed', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  const python = ['requirements.txt', 'requirements-test.txt'].flatMap((name) =>
    [...read(`coordinator/trainer/${name}`).matchAll(/^([a-z][\w-]*)==/gm)].map(([, pack]) => pack!),
  )
  const used = [...Object.keys(dependencies), ...Object.keys(devDependencies), ...python]
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

test('no document links to a file that does not exist', () => {
  const documents = readdirSync(join(checkout, 'docs')).map((name) => join('docs', name))
  for (const name of ['README.md', 'CONTRIBUTING.md', ...documents]) {
    const links = [...read(name).matchAll(/\]\((?!https?:)([^)#]+)\)/g)]
    for (const [, target] of links) {
      assert.ok(existsSync(join(checkout, dirname(name), target!)), `${name} links to ${target}`)
    }
  }
})

test.run()

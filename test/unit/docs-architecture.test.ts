import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../checkout.js'

const read = (name: string): string => readFileSync(join(checkout, name), 'utf8')

test('the table of rooms says what the import rules allow', () => {
  const { forbidden } = createRequire(import.meta.url)(join(checkout, '.dependency-cruiser.cjs')) as {
    forbidden: { name: string; to: { path: string } }[]
  }
  const rules = forbidden.filter(({ name }) => name.startsWith('rooms-'))
  const rooms = rules.map(({ name }) => name.replace('rooms-', ''))
  const allowed = rules.map(({ name, to }): [string, string] => {
    const banned = to.path.match(/\((.*)\)/)![1]!.split('|')
    const others = rooms.filter((room) => name !== `rooms-${room}` && !banned.includes(room))
    return [`${name.replace('rooms-', '')}/`, others.join(', ') || '-']
  })
  const documented = [...read('docs/architecture.md').matchAll(/^\| `([a-z]+\/)` \| .* \| (.*) \|$/gm)]
  assert.equal(
    documented.map(([, room, may]) => [room, may]),
    allowed,
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

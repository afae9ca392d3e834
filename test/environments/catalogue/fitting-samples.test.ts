import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { editsOf, linesFor } from '../../../servers/filesystem/edits.js'
import { belongsIn, matterOf, shelvesIn } from '../../../servers/filesystem/matter.js'
import { archiveNamesOf, directoryNamesIn, newNamesOf, noteFor } from '../../../servers/filesystem/naming.js'
import type { Node } from '../../../servers/filesystem/schema.js'
import { scenesIn, triggersOf } from '../../../servers/iot_devices/words.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { extended } from '../../../servers/social_media/sampling.js'

const test = suite('values that samplers draw')

const random = seededRandom(7)
const HOME = '/home/ana'

function node(path: string, text = '', kind: Node['kind'] = 'text'): Node {
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    parent: path.slice(0, path.lastIndexOf('/')),
    kind,
    owner: 'ana',
    group: 'staff',
    mode: 0o644,
    sticky: false,
    bytes: text.length,
    modified: '2026-02-01 09:00',
    text,
    target: null,
    photo: kind === 'photo' ? { taken: '2026-01-01', city: 'Oslo', camera: 'phone' } : null,
    members: [],
  }
}
const directory = (path: string): Node => node(path, '', 'directory')

const recipe = node(`${HOME}/notes/recipes/lemon-cake.txt`, 'Lemon cake\nServes 4, takes 30 minutes\n- 100 g flour\n')
const invoice = node(`${HOME}/invoices/2026/inv-12-summit.txt`, 'Invoice 12\nStatus: open\n')
const log = node(`${HOME}/logs/app-02-26.log`, 'INFO backup finished\n')

test('a file gets a name that goes on from its own, with its ending', () => {
  for (const name of newNamesOf(recipe)) assert.match(name, /^lemon-cake-.*\.txt$/)
  for (const name of newNamesOf(log)) assert.match(name, /^app-02-26-.*\.log$/)
  for (const name of newNamesOf(node(`${HOME}/photos/oslo/img-1.jpg`, '', 'photo')))
    assert.match(name, /^oslo-.*\.jpg$/)
  for (const name of archiveNamesOf(directory(`${HOME}/photos/oslo`))) assert.match(name, /^oslo-/)
})

test('a line that is added is one of its kind, and none is added where nobody writes', () => {
  const shopping = node(`${HOME}/notes/shopping.txt`, 'rice\neggs\n')
  assert.not(linesFor(random, shopping).includes('rice'))
  assert.ok(linesFor(random, shopping).includes('butter'))
  for (const line of linesFor(random, node(`${HOME}/notes/todo.txt`, '[ ] Write the newsletter (Ana)\n')))
    assert.match(line, /^\[ \] .* \([A-Z]\w+\)$/)
  assert.is(linesFor(random, log).length, 0)
})

test('an edit changes what is there into another of the same', () => {
  assert.equal(editsOf(random, invoice), [{ from: 'Status: open', to: 'Status: paid' }])
  assert.equal(editsOf(random, recipe), [{ from: 'Serves 4', to: 'Serves 6' }])
  assert.is(editsOf(random, log).length, 0)
})

test('files and directories go where their like is kept', () => {
  assert.ok(belongsIn(invoice, directory(`${HOME}/invoices/2025`)))
  assert.not(belongsIn(invoice, directory(`${HOME}/photos/oslo`)))
  assert.not(belongsIn(recipe, directory(`${HOME}/projects/ferry`)))
  const plan = node(`${HOME}/projects/ferry/plan.txt`)
  assert.ok(belongsIn(plan, directory(`${HOME}/projects/ferry/docs`)))
  assert.not(belongsIn(plan, directory(`${HOME}/projects/anchor/docs`)))
  assert.ok(shelvesIn(directory(`${HOME}/projects/ferry/docs`), directory('/shared/web')))
  assert.not(shelvesIn(directory(`${HOME}/projects/ferry`), directory(HOME)))
  assert.is(matterOf(recipe), 'recipe')
})

test('a note is one for its directory', () => {
  const [name] = noteFor(random, directory(`${HOME}/photos/oslo`), (candidate) => candidate === 'captions.txt') ?? []
  assert.is(name, 'captions.txt')
  assert.is(
    noteFor(random, directory(`${HOME}/photos`), (candidate) => candidate === 'agenda.txt'),
    undefined,
  )
  assert.ok(directoryNamesIn(directory(`${HOME}/photos/oslo`)).includes('best-of'))
})

test('a scene fits its room, and runs when it makes sense', () => {
  assert.not(scenesIn('Bathroom').some(({ name }) => name === 'Band Practice'))
  assert.not(triggersOf('Band Practice').includes('bedtime'))
  assert.equal(triggersOf('Wake Up'), ['sunrise'])
})

test('what is added to a post follows it as a sentence of its own', () => {
  const post = { text: 'In praise of the rye loaf', hashtag: 'sourdough' } as Parameters<typeof extended>[1]
  assert.match(extended(random, post), /^In praise of the rye loaf\. [A-Z].*[.!?]$/)
  const reply = { text: 'Well said!', hashtag: null } as Parameters<typeof extended>[1]
  assert.match(extended(random, reply), /^Well said! [A-Z].*[.!?]$/)
})

test.run()

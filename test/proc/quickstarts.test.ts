// needs: python

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseDocument } from 'yaml'
import { checkout } from '../support/checkout.js'
import { blocksOf, openReader, type Reader } from '../support/tutorials.js'

/** The tutorials of docs/start, as a reader types them. test/counterparts/test_trl.py runs the fifth, which needs TRL. */

const test = suite('the tutorials')
let folder: string
let operator: Reader
let invitation: string

const readerIn = async (
  name: string,
  options: Omit<Parameters<typeof openReader>[0], 'folder'> = {},
): Promise<Reader> => {
  const own = join(folder, name)
  await mkdir(own)
  return openReader({ folder: own, ...options })
}

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-tutorials-'))
})
test.after(async () => {
  await operator?.interrupt()
  await rm(folder, { recursive: true, force: true })
})

/** No other machine may reach the run of a test, and other programs may use the usual ports. */
async function stayHere(runFile: string): Promise<void> {
  const document = parseDocument(await readFile(runFile, 'utf8'))
  document.set('listen', ['/ip4/127.0.0.1/tcp/0'])
  document.set('dashboard', { listen: '127.0.0.1:0' })
  document.set('trainer', { ...document.toJS().trainer, python: join(checkout, '.venv', 'bin', 'python') })
  await writeFile(runFile, document.toString())
}

test('an operator starts a run with tasks of their own, and a volunteer trains its first version', async () => {
  operator = await readerIn('operator', {
    async afterBlock({ text }) {
      if (text.startsWith('prove-coordinator init')) await stayHere(join(operator.folder, 'my-run', 'run.yaml'))
    },
  })
  // The trainer's packages are in the checkout.
  const blocks = blocksOf('start/run.md').filter(({ text }) => text.trim() !== 'prove-coordinator setup')
  const shown = blocks.findLastIndex(({ info }) => info === 'sh')
  await operator.follow(blocks.slice(0, shown))
  await operator.follow([
    {
      info: 'sh',
      text: 'until prove-coordinator status --config my-run/run.yaml | grep -q "^version [1-9]"; do sleep 1; done',
    },
    ...blocks.slice(shown),
  ])
  invitation = (await readFile(join(operator.folder, 'my-run', 'data', 'invitation.txt'), 'utf8')).trim()
})

test('a stranger pulls a version, verifies it and talks to it', async () => {
  const stranger = await readerIn('stranger', { placeholders: { INVITATION: invitation } })
  await stranger.follow(blocksOf('start/model.md'))
})

test('a volunteer joins, controls the node from another terminal, and ends it', async () => {
  const volunteer = await readerIn('volunteer', {
    placeholders: { INVITATION: `${invitation} --listen /ip4/127.0.0.1/tcp/0` },
  })
  await volunteer.follow(blocksOf('start/join.md'))
  assert.is(await volunteer.end(), 0)
})

test('an author makes an environment, changes it, checks it and makes tasks from it', async () => {
  const author = await readerIn('author')
  await author.follow(blocksOf('start/environment.md'))
})

test('the tasks of the tutorial for TRL are made with its command', async () => {
  const reader = await readerIn('trl')
  await reader.follow(blocksOf('start/trl.md').filter(({ text }) => text.startsWith('prove-lab ')))
})

test.run()

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import '../../../swarm/polyfill.js'
import { UsageError } from '../../../common/errors/index.js'
import { knownRunArgument, remember, runOf } from '../../../node/commands/chosen-run.js'
import { readKnownRuns } from '../../../node/store/known-runs.js'
import { parseJoinAddress } from '../../../swarm/index.js'

const KEYS = [
  '12D3KooWGRUaYHzPbxaEbM7GyBGJwAmKcSGQ2qDyd3dJp7hQn9Fh',
  '12D3KooWAfPDpPRRRBrmqy9is2zjU5srQ4hKuZitiGmh4NTTpS2d',
] as const
const address = (key: string): string => `/ip4/203.0.113.5/tcp/4001/p2p/${key}`

const test = suite<{ folder: string }>('runs that a data folder knows')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-known-runs-'))
})
test.after.each(({ folder }) => rm(folder, { recursive: true }))

const reach = (folder: string, key: string) =>
  remember(folder, { coordinator: parseJoinAddress(address(key)), invitation: null, text: address(key) })
const refusal = (work: Promise<unknown>): Promise<UsageError> =>
  work.then(
    () => Promise.reject(new Error('it chose a run')),
    (why: UsageError) => why,
  )

test('without a known run the user has to name one', async ({ folder }) => {
  const why = await refusal(runOf(undefined, folder))
  assert.instance(why, UsageError)
  assert.match(why.message, /^no_run: .* knows no run: name it by its invitation$/)
})

test('the only known run is the default', async ({ folder }) => {
  await reach(folder, KEYS[0])
  await reach(folder, KEYS[0])
  assert.is((await runOf(undefined, folder)).coordinator.peerId, KEYS[0])
  assert.is((await readKnownRuns(folder)).length, 1)
  assert.is((await stat(join(folder, 'runs.json'))).mode & 0o777, 0o600)
})

test('of several runs the end of a key chooses one, and the error lists them', async ({ folder }) => {
  for (const key of KEYS) await reach(folder, key)
  const why = await refusal(runOf(undefined, folder))
  assert.match(why.message, /knows 2 runs: choose by the end of the key:\n {2}…4NTTpS2d\n {2}…p7hQn9Fh$/)
  assert.is((await runOf(knownRunArgument('n9Fh'), folder)).coordinator.peerId, KEYS[0])
  const unknown = await refusal(runOf(knownRunArgument('zzzz'), folder))
  assert.match(unknown.message, /no run whose key ends with zzzz: choose by the end of the key/)
})

test('a damaged record is named with the remedy', async ({ folder }) => {
  await reach(folder, KEYS[0])
  const path = join(folder, 'runs.json')
  await writeFile(path, (await readFile(path, 'utf8')).slice(0, 20))
  await isRefused(runOf(undefined, folder), /unreadable: .*runs\.json.*remove the file/s)
})

async function isRefused(work: Promise<unknown>, expected: RegExp): Promise<void> {
  assert.match((await refusal(work)).message, expected)
}

test.run()

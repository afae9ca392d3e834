import { mkdtemp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { examineLog, repairLog } from '../../coordinator/backup/repair-log.js'
import { damageLines } from '../../coordinator/commands/repair.js'
import { openEventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { keepBackups } from '../../coordinator/service/own-backups.js'
import { createMovedClock } from '../support/moved-clock.js'
import { agreed, done, published } from '../support/run-events.js'
import { eventually } from '../support/swarm-nodes.js'

const test = suite<{ dataDir: string }>('repair of a log')
const never = new AbortController().signal
const NOW = new Date('2026-11-28T09:00:00Z')

test.before.each(async (context) => {
  context.dataDir = await mkdtemp(join(tmpdir(), 'prove-repair-'))
})
test.after.each((context) => rm(context.dataDir, { recursive: true, force: true }))

const EVENTS: readonly RunEvent[] = [
  ...[agreed(), published(0)],
  ...Array.from({ length: 40 }, (_, i) => done(`lease-${i}`, 'ann', 0, { credit: 3 })).flat(),
  published(1),
  ...done('lease-last', 'ben', 1, { credit: 7 }),
]

async function writeLog(dataDir: string): Promise<void> {
  const log = await openEventLog(join(dataDir, 'log'))
  for (const event of EVENTS) await log.append(event)
  await log.close()
}

async function eventsIn(dataDir: string): Promise<RunEvent[]> {
  const log = await openEventLog(join(dataDir, 'log'))
  try {
    const events: RunEvent[] = []
    for await (const event of log.replay()) events.push(event)
    return events
  } finally {
    await log.close()
  }
}

/** Changes one byte of the stored event that contains the text. */
async function bendAt(dataDir: string, text: string): Promise<void> {
  const folder = join(dataDir, 'log')
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const bytes = await readFile(path)
    const at = bytes.indexOf(text)
    if (at < 0) continue
    bytes[at] = bytes[at]! ^ 1
    await writeFile(path, bytes)
  }
}

test('an intact log needs no repair', async ({ dataDir }) => {
  await writeLog(dataDir)
  const damage = await examineLog(dataDir, never)
  assert.equal([damage.why, damage.intact.count, damage.count], [null, EVENTS.length, EVENTS.length])
})

test('a bent byte near the end costs only what follows, which is named, and nothing changes before it is accepted', async ({
  dataDir,
}) => {
  await writeLog(dataDir)
  await bendAt(dataDir, '"leaseId":"lease-39","node":"ann","version":0,"bodySha256"')
  const damage = await examineLog(dataDir, never)
  const place = damage.intact.count
  assert.ok(damage.why !== null && place < EVENTS.length && place > 0, `${place}`)
  assert.is(damage.count, EVENTS.length)
  assert.equal(await examineLog(dataDir, never).then(({ intact }) => intact), damage.intact, 'nothing was changed')
  const lines = damageLines(damage).join('\n')
  assert.match(lines, new RegExp(`The first ${place} of ${EVENTS.length} events are intact, up to version 0`))
  assert.match(lines, new RegExp(`lost events: ${place} to ${EVENTS.length - 1} \\(${EVENTS.length - place}\\)`))

  await mkdir(join(dataDir, 'jobs', 'steps', 'step-0'), { recursive: true })
  await mkdir(join(dataDir, 'jobs', 'steps', 'step-1'))
  const aside = await repairLog(dataDir, damage, NOW, never)
  const events = await eventsIn(dataDir)
  assert.equal(events.slice(0, -1), EVENTS.slice(0, place))
  assert.equal(events.at(-1), { type: 'repaired', atMs: NOW.getTime(), lost: EVENTS.length - place })
  assert.equal(await readdir(join(dataDir, 'jobs', 'steps')), ['step-0'])
  assert.equal((await readdir(join(aside, 'steps'))).sort(), ['step-1'])
  assert.ok((await readdir(join(aside, 'log'))).length > 0, 'the damaged log is kept')
  assert.is((await examineLog(dataDir, never)).why, null)
})

test('lost versions and groups that can still be read are listed', async ({ dataDir }) => {
  await writeLog(dataDir)
  const head = join(dataDir, 'log.head')
  await rm(head)
  const damage = await examineLog(dataDir, never)
  assert.match(damage.why!, /log\.head is missing or damaged/)
  const lost = { ...damage, intact: { count: EVENTS.length - 3, hash: '' }, readable: EVENTS.slice(-3) }
  const lines = damageLines(lost)
  assert.ok(lines.includes('lost versions: 1'))
  assert.ok(lines.includes('lost groups: 1'))
  assert.ok(lines.some((line) => /lease-last of ben, accepted, 7 credits/.test(line)))
})

test('a database whose index is damaged is read from a copy', async ({ dataDir }) => {
  await writeLog(dataDir)
  const folder = join(dataDir, 'log')
  const manifest = (await readdir(folder)).find((name) => name.startsWith('MANIFEST'))!
  await writeFile(join(folder, manifest), 'bent')
  const damage = await examineLog(dataDir, never)
  assert.is(damage.intact.count, EVENTS.length)
  await repairLog(dataDir, { ...damage, why: 'the database could not be opened' }, NOW, never)
  assert.is((await eventsIn(dataDir)).length, EVENTS.length + 1)
})

test('a repair that was killed before its last steps is finished by the next one', async ({ dataDir }) => {
  await writeLog(dataDir)
  await repairLog(dataDir, await examineLog(dataDir, never), NOW, never)
  await rename(join(dataDir, 'log'), join(dataDir, 'log.repaired'))
  await rename(join(dataDir, 'log.head'), join(dataDir, 'log.repaired.head'))
  assert.is((await examineLog(dataDir, never)).intact.count, EVENTS.length + 1)
})

test('a coordinator that cannot back itself up says why, and tries again', async ({ dataDir }) => {
  await writeLog(dataDir)
  const log = await openEventLog(join(dataDir, 'log'))
  const clock = createMovedClock()
  const results: { readonly why?: string; readonly folder?: string }[] = []
  const closing = new AbortController()
  const settings = { everyMs: 3_600_000, keep: 2 }
  const ended = keepBackups(
    {
      ...{ settings, log, dataDir, configFile: null, clock },
      logger: { error: () => undefined } as never,
      onBackup: (result) => results.push(result),
    },
    closing.signal,
  )
  for (const count of [1, 2]) {
    await eventually('it waits', () => clock.pauses.includes(settings.everyMs))
    clock.advance(settings.everyMs)
    if (count === 2) {
      await eventually('it waits again', () => clock.pauses.length > 0)
      clock.advance(settings.everyMs)
    }
    await eventually('a result', () => results.length >= count)
  }
  assert.match(results[0]!.why!, /no_run: .* contains no identity\.key/)
  closing.abort()
  await ended
  await log.close()
})

test.run()

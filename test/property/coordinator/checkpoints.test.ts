import '../../../swarm/polyfill.js'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readCheckpoint, writeCheckpoint } from '../../../coordinator/ledger/checkpoint-file.js'
import { type CheckpointParts, openCheckpoints } from '../../../coordinator/ledger/checkpoints.js'
import { openEventLog } from '../../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { LOG_START, type LogHead } from '../../../coordinator/ledger/log-chain.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import type { StateSnapshot } from '../../../coordinator/ledger/state-snapshot.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'
import { randomLogs } from '../../support/random-logs.js'
import {
  agreed,
  anyOrder,
  audited,
  batchAudited,
  batched,
  batchRefused,
  bodyLost,
  done,
  ORDERED,
  published,
  released,
  reopened,
  scored,
} from '../../support/run-events.js'

/** A result of a volunteer, but for its version and key. */
const REDERIVED = { version: 1, manifestId: 'a'.repeat(64), fault: null, difference: 0, credit: 5 }
const folders: string[] = []
test.after.each(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-checkpoint-'))
  folders.push(folder)
  return folder
}

/**
 * What random logs do not do by themselves: keys that register, other terms, worlds out of order, lost bodies, batches that are named, and
 * orders of the operator, in any sequence.
 */
function enriched(log: readonly RunEvent[], picks: readonly number[], orders: readonly number[]): RunEvent[] {
  const state = new RunReducer()
  const all: RunEvent[] = []
  const lost = new Set<string>()
  const put = (event: RunEvent): void => {
    state.apply(event)
    all.push(event)
  }
  /** Ordered, and then carried out, refused or still to come. */
  const goBack = (i: number): void => {
    const { version, step } = state.publications[0]!
    put({ type: 'rollback-ordered', ...ORDERED, version })
    if (i % 3 === 0) return
    put({ ...batched(`back ${i}`, 1000 + i, []), backTo: step })
    put(batchRefused(`back ${i}`))
  }
  put(agreed({ versions: 99 }))
  for (const [i, event] of log.entries()) {
    if ((event.type === 'trained' || event.type === 'batch-refused') && lost.has(event.batchId)) continue
    const pick = picks[i % picks.length]!
    // As a coordinator does it: the step is published, and then noted as trained.
    const step = state.pendingBatch?.step
    const made = step !== undefined && { step, recipe: { settings: { seed: pick } } }
    put(event.type === 'published' && made ? { ...event, ...made } : event)
    if (pick === 0) {
      put({ type: 'registered', atMs: i, node: `key ${i}`, round: state.round!.round })
      put({ type: 'team-joined', atMs: i, node: `key ${i}`, team: 'owls' })
    }
    if (pick === 1) put(agreed({ batchGroups: 2 + (i % 5) }))
    if (pick === 2) put({ type: 'environment-quarantined', atMs: i, environment: `world ${i % 3}`, leaseId: 'lease' })
    if (pick === 4) put(scored(i))
    if (pick === 5) put({ type: 'rederived', atMs: i, ...REDERIVED, node: `key ${i}` })
    if (pick === 3 && event.type === 'batched') {
      lost.add(event.batchId)
      put(bodyLost(event.leaseIds[0]!))
    }
    const order = orders[i % orders.length]!
    const node = ['ann', 'ben', 'cleo', 'dora'][Math.floor(order / 16) % 4]!
    if (order % 2 === 0) put(anyOrder(order / 2, node))
    if (order % 50 === 1 && state.pendingBatch === undefined && state.publications.length > 1) goBack(i)
    const pending = state.pendingBatch
    if (pick > 6 && pending && pending.leaseIds.length > 0 && !state.isBatchAudited) {
      const passed = pending.leaseIds.slice(0, pick - 5)
      put(
        batchAudited(
          pending.batchId,
          // Some keys' groups wait then, and some of those are let in again.
          passed.map((leaseId, j) => [
            leaseId,
            state.leases.get(leaseId)!.node,
            { ...NO_LOGIT_ERRORS, odds: [(i + j) % 3 === 0 ? 8 : -5, 0, 0, 0] },
          ]),
        ),
      )
    }
    const doubted = state.doubtedBatches[0]
    if (pick > 3 && doubted) put({ type: 'batch-doubted', atMs: i, ...doubted })
  }
  return all
}

const logs = fc
  .tuple(
    randomLogs,
    fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 30 }),
    fc.array(fc.nat({ max: 600 }), { minLength: 1, maxLength: 60 }),
  )
  .map((parts) => enriched(...parts))

const reducer = (log: readonly RunEvent[], onto = new RunReducer()): RunReducer => {
  for (const event of log) onto.apply(event)
  return onto
}

/** What is found out from the rest and not written. */
const derived = (state: RunReducer) => ({
  lapsed: state.lapsedBefore(Number.POSITIVE_INFINITY),
  kinds: [...state.nodes.keys()].map((node) => state.kindOf(node)),
  open: (['proven', 'untried', 'doubtful'] as const).map((kind) => [
    state.openLeasesBy(kind),
    state.openLeasesBy(kind, 'ip4/0'),
  ]),
  suppliers: [...state.suppliers],
  trainable: [0, 1, 8].map((staleness) => [state.trainable(staleness), state.trainableCount(staleness)]),
  ofNodes: [...state.nodes.keys()].map((node) => [
    state.trainableCountOf(node, 8),
    state.openLeasesOf(node),
    state.owedLease(node),
  ]),
  pendingBatch: state.pendingBatch,
  orders: state.orders,
  heldBack: state.heldBack,
  doubted: state.doubtedBatches,
  behind: state.batchesBehind(state.current?.adapterStep ?? 0),
  configuration: state.rounds.map(({ configuration }) =>
    state.configurationHistory.findIndex((agreed) => agreed.configuration === configuration),
  ),
})

test('a state that was written at any place of a log, read back and gone on with is the state of the whole log', () => {
  const filled = new Set<string>()
  fc.assert(
    fc.property(logs, (log) => {
      const whole = reducer(log)
      const [snapshot, answers] = [whole.snapshot, derived(whole)]
      const state = new RunReducer()
      for (const [i, event] of log.entries()) {
        state.apply(event)
        const stored = JSON.parse(JSON.stringify(state.snapshot)) as StateSnapshot
        for (const [section, entries] of Object.entries(stored)) if (entries.length > 0) filled.add(section)
        const again = reducer(log.slice(i + 1), RunReducer.of(stored))
        assert.equal(again.snapshot, snapshot)
        assert.equal(derived(again), answers)
      }
    }),
    { numRuns: 12, seed: 20261122 },
  )
  const never = Object.keys(new RunReducer().snapshot).filter((section) => !filled.has(section))
  assert.equal(never, [], 'every kind of entry was there')
})

const PLACE: LogHead = { count: 7, hash: createHash('sha256').update('a place').digest('hex') }

test('what is written is what is read', async () => {
  const file = join(await newFolder(), 'checkpoint')
  await fc.assert(
    fc.asyncProperty(logs, fc.nat(), async (log, cut) => {
      const { snapshot } = reducer(log.slice(0, cut % log.length))
      await writeCheckpoint(file, { at: PLACE, snapshot })
      assert.equal(await readCheckpoint(file), { at: PLACE, snapshot })
    }),
    { numRuns: 40, seed: 20261122 },
  )
})

test('a file that is cut off or bent anywhere is refused as damaged, and never misread', async () => {
  const file = join(await newFolder(), 'checkpoint')
  const { snapshot } = reducer([
    agreed(),
    published(0),
    ...done('a', 'ann', 0),
    batched('b', 1, ['a']),
    audited('a', 'ann', null),
  ])
  await writeCheckpoint(file, { at: PLACE, snapshot })
  const bytes = await readFile(file)
  const codeOf = async (changed: Uint8Array): Promise<string> => {
    await writeFile(file, changed)
    return readCheckpoint(file).then(
      () => 'read',
      (why: { code: string }) => why.code,
    )
  }
  for (let length = 0; length < bytes.length - 1; length += 7)
    assert.is(await codeOf(bytes.subarray(0, length)), 'damaged')
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: bytes.length - 2 }), fc.integer({ min: 1, max: 255 }), async (place, change) => {
      const bent = Uint8Array.from(bytes)
      bent[place]! ^= change
      assert.ok(['damaged', 'other_version'].includes(await codeOf(bent)), `byte ${place}`)
    }),
    { numRuns: 150, seed: 20261122 },
  )
  assert.is(await codeOf(Buffer.concat([bytes, Buffer.from('{}\n')])), 'damaged')
  assert.is(await codeOf(bytes), 'read')
})

test('a snapshot with a dangling reference is refused, also when its hash is right', () => {
  const { snapshot } = reducer([agreed(), published(0), ...done('a', 'ann', 0), batched('b', 1, ['a'])])
  const lacking: readonly (keyof StateSnapshot)[] = ['configuration', 'rounds', 'leases', 'judged', 'batches', 'rest']
  for (const section of lacking) assert.throws(() => RunReducer.of({ ...snapshot, [section]: [] }), undefined, section)
})

/** A recorder on disk as a coordinator has it, and what became of its checkpoint. */
async function start(folder: string, leastEvents = 10) {
  const log = await openEventLog(join(folder, 'log'))
  const warnings: { readonly code: unknown }[] = []
  const logger: CheckpointParts['logger'] = {
    info: () => undefined,
    warn: (what) => void warnings.push({ code: (what as { error: { code: unknown } }).error.code }),
  }
  const read: number[] = []
  const watched: typeof log = {
    ...log,
    get end() {
      return log.end
    },
    replay(from = LOG_START) {
      read.push(log.end.count - from.count)
      return log.replay(from)
    },
  }
  const checkpoints = openCheckpoints({ file: join(folder, 'log.checkpoint'), log, logger, leastEvents })
  const recorder = await openRecorder(watched, () => undefined, { checkpoints })
  return { recorder, warnings, read: read[0]! }
}

type Started = Awaited<ReturnType<typeof start>>
const snapshotOf = ({ recorder }: Started): StateSnapshot => (recorder.state as RunReducer).snapshot

async function write({ recorder }: Started, events: number): Promise<void> {
  for (let i = 0; i < events; i++) await recorder.record(() => released(`none ${i}`))
}

/** A run of 53 events, ended in order. */
async function lived(folder: string): Promise<StateSnapshot> {
  const first = await start(folder, 20)
  await first.recorder.record(() => agreed())
  await first.recorder.record(() => published(0))
  await write(first, 50)
  await first.recorder.record(() => reopened(1, 0))
  await first.recorder.close()
  return snapshotOf(first)
}

test('a start reads the checkpoint and what came after it, and has the same state', async () => {
  const folder = await newFolder()
  const snapshot = await lived(folder)
  const again = await start(folder)
  assert.ok(again.read < 20, `${again.read} events were read`)
  assert.equal(snapshotOf(again), snapshot)
  assert.equal(again.warnings, [])
  await write(again, 100)
  await again.recorder.record(() => published(1))
  await again.recorder.close()
  const third = await start(folder)
  assert.ok(third.read < 10, 'an end in order leaves no more than is read at once')
  assert.equal(snapshotOf(third), snapshotOf(again))
  await third.recorder.close()
})

test('a short log has no checkpoint, and is read whole', async () => {
  const folder = await newFolder()
  await lived(folder)
  await rm(join(folder, 'log.checkpoint'))
  const again = await start(folder, 1000)
  assert.is(again.read, 53)
  await again.recorder.close()
  assert.is(await readFile(join(folder, 'log.checkpoint')).catch((why: { code: string }) => why.code), 'ENOENT')
  assert.equal(again.warnings, [])
})

test('a checkpoint that is damaged, of another program or of another log costs a start its time and nothing else', async () => {
  const folder = await newFolder()
  const snapshot = await lived(folder)
  const file = join(folder, 'log.checkpoint')
  const text = await readFile(file, 'utf8')
  const [head] = text.split('\n')
  const signed = (changed: string): string => {
    const body = text.slice(0, text.lastIndexOf('{"sha256"')).replace(head!, changed)
    return `${body}${JSON.stringify({ sha256: createHash('sha256').update(body).digest('hex') })}\n`
  }
  const wrong = {
    damaged: text.slice(0, text.length / 2),
    other_version: signed(head!.replace('"schema":6', '"schema":5')),
    elsewhere: signed(
      head!
        .replace(/"hash":"./, '"hash":"x')
        .replace('"x', '"0')
        .replace(/0{2}/, '0f'),
    ),
  }
  for (const [code, bytes] of Object.entries(wrong)) {
    await writeFile(file, bytes)
    const again = await start(folder, 1000)
    assert.equal(again.warnings, [{ code }])
    assert.is(again.read, 53)
    assert.equal(snapshotOf(again), snapshot)
    await again.recorder.close()
  }
})

test('a checkpoint that cannot be written is logged, and the run continues', async () => {
  const folder = await newFolder()
  const log = await openEventLog(join(folder, 'log'))
  const warnings: unknown[] = []
  const logger = { info: () => undefined, warn: (what: unknown) => void warnings.push(what) }
  const checkpoints = openCheckpoints({ file: join(folder, 'no folder', 'checkpoint'), log, logger, leastEvents: 5 })
  const recorder = await openRecorder(log, () => undefined, { checkpoints })
  for (let i = 0; i < 8; i++) await recorder.record(() => released(`none ${i}`))
  await recorder.close()
  assert.is(warnings.length, 1)
  assert.is(log.end.count, 8)
})

test.run()

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventLog, StoreError } from '../../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { parseEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { ConfigError, readConfig } from '../../../coordinator/settings/config.js'
import { NodeError } from '../../../node/report/errors.js'
import { openNodeStore, openNodeStores } from '../../../node/store/store.js'
import { policyIdOf, policyManifest } from '../../../proto/index.js'
import {
  checkPeerId,
  createBlobStore,
  IdentityError,
  importIdentity,
  parseJoinAddress,
  readKey,
} from '../../../swarm/index.js'
import { acceptedVerdict, codeOf, flightManifest, flightPolicy, hash, id16 } from '../../support/proto-samples.js'
import { agreed } from '../../support/run-events.js'

const root = mkdtempSync(join(tmpdir(), 'prove-files-'))
test.after(() => rmSync(root, { recursive: true, force: true }))
let made = 0
const folder = (): string => {
  const path = join(root, String(made++))
  mkdirSync(path)
  return path
}

const EVENTS: readonly RunEvent[] = [
  agreed({}, [{ field: 'groupSize', from: '2', to: '3' }]),
  {
    type: 'published',
    atMs: 1,
    round: 0,
    version: 0,
    step: 0,
    adapterStep: 0,
    policyId: hash('p'),
    manifestId: hash('m'),
    adapterSha256: hash('a'),
    roundSecret: hash('s'),
    skippedTasks: 'AQ==',
  },
  {
    type: 'reopened',
    atMs: 1,
    round: 1,
    version: 0,
    policyId: hash('p'),
    manifestId: hash('m'),
    roundSecret: hash('t'),
    skippedTasks: '',
  },
  { type: 'registered', atMs: 1, node: '12D3', round: 0 },
  {
    type: 'leased',
    atMs: 2,
    leaseId: id16('l'),
    round: 1,
    index: 0,
    node: '12D3',
    version: 0,
    taskIndex: 4,
    seed: hash('x'),
    deadlineMs: 9,
    backend: 'cpu',
  },
  {
    type: 'judged',
    atMs: 3,
    leaseId: id16('l'),
    node: '12D3',
    version: 0,
    bodySha256: hash('b'),
    accepted: false,
    code: 'duplicate',
    detail: '',
    credit: 0,
    rewards: [0.5, -1],
    zeroVariance: false,
    audit: 'passed',
    logitErrors: {
      tokens: 600,
      logitError: 0.001,
      expected: 0.002,
      odds: [0.5, -0.1, 0, 0],
      betterLogitError: 1,
      betterExpectedMismatch: 0.5,
    },
    addressBlock: 'ip4/7f0000',
    completions: ['0123456789abcdef'],
    logprobs: [-3.5],
    sketches: ['A'.repeat(88)],
    sampledTokens: 600,
    calls: 2,
    solved: 1,
  },
  { type: 'released', atMs: 4, leaseId: id16('l'), reason: 'lapsed' },
  {
    type: 'batch-audited',
    atMs: 4,
    batchId: 'step-1',
    groups: [
      {
        leaseId: id16('l'),
        node: '12D3',
        logitErrors: {
          tokens: 600,
          logitError: 0,
          expected: 0.002,
          odds: [0, 0, 0, 0],
          betterLogitError: 0,
          betterExpectedMismatch: 0.5,
        },
      },
    ],
  },
  {
    type: 'audited',
    atMs: 4,
    leaseId: id16('l'),
    node: '12D3',
    accepted: false,
    code: 'sampler_mismatch',
    detail: 'x',
    logitErrors: null,
  },
  { type: 'environment-quarantined', atMs: 4, environment: 'banking', leaseId: id16('l') },
  { type: 'batched', atMs: 5, batchId: 'step-1-ab', step: 1, leaseIds: [id16('l')] },
  { type: 'trained', atMs: 6, batchId: 'step-1-ab', step: 1, skipped: false },
  { type: 'body-lost', atMs: 7, leaseId: 'l', bodySha256: 'ab'.repeat(32), detail: 'x' },
  { type: 'batch-refused', atMs: 7, batchId: 'step-1-ab', code: 'too_long', detail: 'x' },
]

test('every kind of event is read back, also with a field that a later version added', () => {
  for (const event of EVENTS) {
    assert.equal(parseEvent(JSON.parse(JSON.stringify(event))), event)
    assert.ok(parseEvent({ ...event, later: [1] }))
  }
})

test('an event that lacks a field, has one of another type, or is of no known kind is none', () => {
  const junk = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, {}, [], '', Number.NaN, '__proto__', -1.5),
    fc.jsonValue({ maxDepth: 2 }),
  )
  fc.assert(
    fc.property(fc.constantFrom(...EVENTS), fc.nat(20), junk, (event, at, value) => {
      const keys = Object.keys(event)
      const key = keys[at % keys.length]!
      const bent = { ...event, [key]: value }
      const read = parseEvent(bent)
      if (value === undefined) assert.is(read, undefined)
      // What passes has the type of what was there: the fold does arithmetic on it.
      else if (read)
        assert.is(
          typeof value,
          typeof (event as unknown as Record<string, unknown>)[key] === 'object'
            ? typeof value
            : typeof (event as unknown as Record<string, unknown>)[key],
        )
    }),
    { seed: 901, numRuns: 1500 },
  )
  for (const none of [null, 7, 'published', [], {}, { type: 'toString' }, { type: '__proto__' }, { type: ['leased'] }])
    assert.is(parseEvent(none), undefined)
})

test('a log with a damaged event is refused where the damage is, and no event after it is believed', async () => {
  for (const damage of ['{"type":"judged"', '{"type":"judged","credit":1}', 'null', '"x"', '\u0000']) {
    const path = join(folder(), 'log')
    const log = await openEventLog(path)
    for (const event of EVENTS) await log.append(event)
    await log.close()
    const raw = new Level<string, string>(path, { valueEncoding: 'utf8' })
    await raw.put('0000000000000002', damage)
    await raw.close()
    const again = await openEventLog(path)
    const seen: RunEvent[] = []
    try {
      for await (const event of again.replay()) seen.push(event)
      assert.unreachable()
    } catch (why) {
      assert.instance(why, StoreError)
      assert.is((why as StoreError).code, 'unreadable')
    }
    assert.equal(seen, EVENTS.slice(0, 2))
    await again.close()
  }
})

test('a log in which events are missing is refused: LevelDB passes over what is damaged in its files', async () => {
  for (const missing of [0, 2]) {
    const path = join(folder(), 'log')
    const log = await openEventLog(path)
    for (const event of EVENTS) await log.append(event)
    await log.close()
    const raw = new Level<string, string>(path, { valueEncoding: 'utf8' })
    await raw.del(String(missing).padStart(16, '0'))
    await raw.close()
    const again = await openEventLog(path)
    const seen: RunEvent[] = []
    try {
      for await (const event of again.replay()) seen.push(event)
      assert.unreachable()
    } catch (why) {
      assert.is((why as StoreError).code, 'unreadable')
    }
    assert.equal(seen, EVENTS.slice(0, missing))
    await again.close()
  }
})

test('an event that could not be read back is not written', async () => {
  const log = await openEventLog(join(folder(), 'log'))
  const recorder = await openRecorder(log, () => undefined)
  const tooLong = { ...EVENTS.at(-1)!, detail: 'x'.repeat(5000) } as RunEvent
  await recorder
    .record(() => tooLong)
    .then(
      () => assert.unreachable(),
      (why) => assert.instance(why, TypeError),
    )
  await recorder.record(() => agreed())
  const seen: RunEvent[] = []
  for await (const event of log.replay()) seen.push(event)
  assert.equal(seen, [agreed()])
  await recorder.close()
})

test('a directory that holds other keys is no event log', async () => {
  const path = join(folder(), 'log')
  const raw = new Level<string, string>(path)
  await raw.put('zebra', '1')
  await raw.close()
  const why = await openEventLog(path).catch((error: unknown) => error)
  assert.is((why as StoreError).code, 'unreadable')
})

test("a damaged verdict in a node's ledger is reported, not counted", async () => {
  const run = '12D3run'
  for (const damage of [
    '{',
    'null',
    JSON.stringify({ ...acceptedVerdict, credit: '12' }),
    JSON.stringify({ ...acceptedVerdict, code: '__proto__' }),
  ]) {
    const path = join(folder(), 'store')
    const store = await openNodeStore(path, run)
    await store.addVerdicts(0, [acceptedVerdict])
    assert.equal(await store.verdicts(), [acceptedVerdict])
    await store.close()
    const raw = new Level<string, string>(path)
    await raw.sublevel<string, string>(`${run}:verdicts`, {}).put('000000000000', damage)
    await raw.close()
    const again = await openNodeStore(path, run)
    const why = await again.verdicts().catch((error: unknown) => error)
    assert.instance(why, NodeError)
    assert.is((why as NodeError).code, 'unreadable')
    await again.close()
  }
})

test("a damaged group or round in a node's records is reported, not judged", async () => {
  const run = '12D3run'
  for (const damage of ['{', 'null', '{"bodySha256":"x","origin":{}}']) {
    const path = join(folder(), 'store')
    const store = await openNodeStore(path, run)
    assert.is(await store.keptGroup(), null)
    assert.equal(await store.rounds(), [])
    await store.close()
    const raw = new Level<string, string>(path)
    await raw.sublevel<string, string>(`${run}:kept`, {}).put('newest', damage)
    await raw.sublevel<string, string>(`${run}:kept-body`, {}).put('newest', 'body')
    await raw.sublevel<string, string>(`${run}:rounds`, {}).put('newest', damage)
    await raw.close()
    const opened = await openNodeStores(path)
    assert.equal([...opened.stores.keys()], [run])
    const again = opened.stores.get(run)!
    for (const read of [() => again.keptGroup(), () => again.rounds()]) {
      const why = await read().catch((error: unknown) => error)
      assert.instance(why, NodeError)
      assert.is((why as NodeError).code, 'unreadable')
    }
    await opened.close()
  }
})

const goodConfig = `dataDir: data
base: { path: base.gguf, name: demo }
tasks: { dataset: set }
`
function configOf(content: string | Uint8Array): string {
  const file = join(folder(), 'run.yaml')
  writeFileSync(file, content)
  try {
    readConfig(file)
    return 'accepted'
  } catch (why) {
    if (why instanceof ConfigError) return why.code
    throw why
  }
}

test('a run.yaml that is bent, cut, foreign or hostile is refused with one sentence, or is a configuration', () => {
  for (const content of [
    '',
    '[]',
    '\0',
    '- '.repeat(20_000),
    '{'.repeat(20_000),
    `a: &a ["x"]\n${Array.from({ length: 30 }, (_, i) => `${'bcdefghijklmnopqrstuvwxyzABCDEFG'[i]}: &${'bcdefghijklmnopqrstuvwxyzABCDEFG'[i]} [*${'abcdefghijklmnopqrstuvwxyzABCDEFG'[i]},*${'abcdefghijklmnopqrstuvwxyzABCDEFG'[i]},*${'abcdefghijklmnopqrstuvwxyzABCDEFG'[i]}]`).join('\n')}`,
    'a: &a [*a]',
    `${goodConfig}__proto__: { dataDir: x }`,
    `${goodConfig}constructor: 1`,
    `${goodConfig}groupSize: .nan`,
    `${goodConfig}groupSize: .inf`,
    `${goodConfig}groupSize: 65`,
    `${goodConfig}groupSize: 64\nlimits: { maxRolloutTokens: 8192 }`,
    `${goodConfig}groupSize: !!js/function x`,
    `${goodConfig}---\n${goodConfig}`,
    `${goodConfig}dataDir: twice`,
    Uint8Array.of(0xff, 0xfe, 0x00),
  ])
    assert.is(configOf(content), 'bad_config', String(content).slice(0, 40))
  const at = fc.nat(goodConfig.length)
  const piece = fc.constantFrom(
    ':',
    '\n',
    ' ',
    '{',
    '}',
    '[',
    ']',
    '&a',
    '*a',
    '!!',
    '|',
    '>',
    '-',
    '"',
    "'",
    '#',
    '%',
    '@',
    '\t',
    '? ',
    '__proto__: ',
    'é',
    '~',
    '1e999',
  )
  fc.assert(
    fc.property(at, at, piece, (a, b, insert) => {
      configOf(goodConfig.slice(0, a) + insert + goodConfig.slice(b))
    }),
    { seed: 907, numRuns: 250 },
  )
})

test('whatever is typed as an address is one, or is refused with a sentence', () => {
  const good = '/ip4/203.0.113.5/tcp/4001/p2p/12D3KooWGzxzKZYveHXtpG6AsrUJBcWxHBFS2HsEoGTxrMLvKXtf'
  parseJoinAddress(good)
  const part = fc.constantFrom(
    ...good.split('/').map((text) => `/${text}`),
    '/',
    '/dns4',
    '/unix',
    '/..',
    '\0',
    'é',
    '/p2p',
    '/tcp/99999',
    '/ip6/::',
    ' ',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(part, { maxLength: 10 }).map((parts) => parts.join('')),
        fc.string({ unit: 'binary', maxLength: 80 }),
      ),
      (text) => {
        for (const parse of [parseJoinAddress, checkPeerId]) {
          try {
            parse(text)
          } catch (why) {
            assert.instance(why, TypeError)
            assert.ok((why as Error).message.length < 300)
          }
        }
      },
    ),
    { seed: 911, numRuns: 800 },
  )
})

test('a key file of any bytes is refused as unreadable: a new key would lose the credit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 120 }),
        fc.uint8Array({ maxLength: 90 }).map((tail) => Uint8Array.from([8, 1, 18, 64, ...tail])),
      ),
      async (bytes) => {
        const directory = folder()
        writeFileSync(join(directory, 'identity.key'), bytes)
        const codes: string[] = []
        for (const read of [
          () => readKey(directory),
          () => importIdentity(directory, `prove-key-1:${Buffer.from(bytes).toString('base64')}`),
        ]) {
          try {
            await read()
            codes.push('accepted')
          } catch (why) {
            assert.instance(why, IdentityError)
            codes.push((why as IdentityError).code)
          }
        }
        assert.ok(['accepted', 'key_unreadable'].includes(codes[0]!))
      },
    ),
    { seed: 919, numRuns: 60 },
  )
})

test('only a hash names a blob: no name from the wire becomes a path', async () => {
  const store = await createBlobStore(folder())
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 70 }),
        fc.constantFrom('../identity.key', `${'a'.repeat(64)}/..`, 'A'.repeat(64), `${'a'.repeat(64)}\n`, ''),
      ),
      (name) => {
        assert.throws(
          () => store.path(name),
          (why: unknown) => why instanceof TypeError,
        )
      },
    ),
    { seed: 929, numRuns: 200 },
  )
})

test('pruning leaves what is kept and what is none of the store, and takes partial downloads too', async () => {
  const directory = folder()
  const store = await createBlobStore(directory)
  const [kept, gone] = [await store.put(Uint8Array.of(1)), await store.put(Uint8Array.of(2))]
  for (const name of [`.part-${kept}`, `.have-${kept}`, `.part-${gone}`, `.have-${gone}`, 'notes.txt'])
    writeFileSync(join(directory, name), '')
  await store.prune(new Set([kept]))
  assert.equal(readdirSync(directory).sort(), [`.have-${kept}`, `.part-${kept}`, kept, 'notes.txt'].sort())
})

test('a manifest cannot make a node fetch more than files of a kind have: at the limit and one beyond it', () => {
  const sized = (role: 'provenance' | 'peft-config', sizeBytes: number) => () =>
    policyManifest.encode({
      ...flightManifest,
      blobs: [
        ...flightManifest.blobs,
        {
          role,
          sha256: hash(role),
          sizeBytes,
          chunkSha256s: Array.from({ length: Math.ceil(sizeBytes / 2 ** 20) }, () => hash('c')),
        },
      ],
    })
  const adapterOf = (sizeBytes: number) => () => {
    const policy = { ...flightPolicy, adapter: { ...flightPolicy.adapter!, sizeBytes } }
    const chunkSha256s = Array.from({ length: Math.ceil(sizeBytes / 2 ** 20) }, () => hash('c'))
    policyManifest.encode({
      ...flightManifest,
      policy,
      policyId: policyIdOf(policy),
      blobs: [{ role: 'adapter', sha256: policy.adapter.sha256, sizeBytes, chunkSha256s }],
    })
  }
  for (const [make, limit] of [
    [(n: number) => sized('provenance', n), 16 * 2 ** 20],
    [(n: number) => sized('peft-config', n), 16 * 2 ** 20],
    [adapterOf, 2 ** 31],
  ] as const) {
    assert.is(codeOf(make(limit)), 'accepted')
    assert.is(codeOf(make(limit + 1)), 'out_of_bounds')
  }
})

test.run()

import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createPolicyKeeper, type PolicyKeeper } from '../../node/policy/policy-keeper.js'
import { NodeError } from '../../node/report/errors.js'
import { type Canary, type PolicyManifest, policyIdOf, sealManifest, sha256 } from '../../proto/index.js'
import { type Engine, EngineError, type EngineSlots, type SlotRequest } from '../../rollout/engine/index.js'
import { type BlobStore, createBlobStore, createSnapshotExchange, silentLogger } from '../../swarm/index.js'
import { library } from '../support/library-environment.js'
import { runtimeOf } from '../support/scripted.js'
import { soon } from '../support/swarm-nodes.js'
import { createTestRun, type TestRun } from '../support/test-run.js'

const test = suite('the policy keeper')
const closing: (() => Promise<unknown>)[] = []
test.after.each(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const tokenizer = runtimeOf().tokenizer
const tokenOf = (seed: number): number => createHash('sha256').update(`${seed}`).digest()[0]!

/** An engine that gives every token the log-probability -1, and draws from a seed always the same token. */
interface LoggingEngine extends Engine {
  readonly done: string[]
}
function loggingEngine(): LoggingEngine {
  const done: string[] = []
  const unasked = () => Promise.reject(new Error('nobody should ask for this'))
  return {
    done,
    build: { nodeLlamaCpp: 'none', backend: 'cpu' },
    async usePolicy(adapter) {
      done.push(`policy ${adapter?.sha256.slice(0, 8)}`)
    },
    async score(tokens, from) {
      done.push('score')
      return tokens.slice(from).map(() => -1)
    },
    async openSlots(requests: readonly SlotRequest[]) {
      done.push(`slots ${requests.length}`)
      return requests.map(({ seeds }) => ({
        next: async () => ({ tokens: [tokenOf(seeds[0]!)], logprobs: [-1], stop: 'length' as const }),
        close: async () => undefined,
      }))
    },
    scoreTokens: unasked,
    close: unasked,
  }
}

const canary: Canary = {
  promptTokens: [1, 2],
  continuationTokens: [3],
  baseLogprobs: [-4],
  policyLogprobs: [-1],
}

async function open({ mirrors = false }: { readonly mirrors?: boolean } = {}): Promise<{
  run: TestRun
  engine: LoggingEngine
  blobs: BlobStore
  keeper: PolicyKeeper
  /** What room was asked for. */
  rooms: Required<EngineSlots>[]
}> {
  const run = await createTestRun()
  closing.push(() => run.close())
  const { host } = await run.volunteer(2)
  const blobs = await createBlobStore(await run.swarm.folder())
  const snapshots = await createSnapshotExchange(host, { store: blobs })
  closing.push(() => snapshots.close())
  const engine = loggingEngine()
  const rooms: Required<EngineSlots>[] = []
  const keeper = createPolicyKeeper({
    logger: silentLogger,
    engine,
    refit: async (slots) => void rooms.push(slots),
    tokenizer,
    baseSha256: sha256(new Uint8Array([1])),
    catalogue: new Map([['library', library]]),
    snapshots,
    blobs,
    origin: run.swarm.runId,
    peers: () => [run.swarm.runId],
    clock: host.clock,
    mirrors,
  })
  return { run, engine, blobs, keeper, rooms }
}

/** Publishes the newest manifest again, changed. */
async function offer(run: TestRun, change: Partial<PolicyManifest>): Promise<void> {
  const { snapshots, node } = run.coordinator
  const { manifest } = snapshots.newest()!
  snapshots.offer(await sealManifest(node.key, run.swarm.runId, { ...manifest, round: manifest.round + 1, ...change }))
}

test('a policy is loaded after its rollouts fit the engine and its canary passed', async () => {
  const { run, engine, keeper, rooms } = await open()
  await offer(run, { canary: [canary] })
  await keeper.update(soon())
  const { maxRolloutTokens: contextSize } = run.coordinator.snapshots.newest()!.manifest.limits
  assert.equal(rooms, [{ contextSize, cacheType: 'f16' }])
  const [policy, ...rest] = engine.done
  assert.match(policy!, /^policy [0-9a-f]{8}$/)
  assert.equal(rest, ['score'])
})

test('a run with another sampling method is refused', async () => {
  const { run, engine, keeper } = await open()
  const { policy } = run.coordinator.snapshots.newest()!.manifest
  const other = { ...policy, sampler: { ...policy.sampler, draw: 'another-rule' } }
  await offer(run, { policy: other, policyId: policyIdOf(other) })
  assert.match(await codeOf(keeper.update(soon())), /^incompatible: the run samples tokens with another-rule/)
  assert.equal(engine.done, [])
})

test('a run with an environment that the node lacks is refused, with advice for the owner', async () => {
  const { run, engine, keeper } = await open()
  await offer(run, { taskSpec: { environments: 'library,bakery' } })
  assert.match(
    await codeOf(keeper.update(soon())),
    /^incompatible: .* lacks environments of the run: bakery\. Get their folders .* --environments/,
  )
  assert.equal(engine.done, [])
})

test('another round of the same policy needs neither a load nor a canary', async () => {
  const { run, engine, keeper } = await open()
  await offer(run, { canary: [canary] })
  const first = await keeper.update(soon())
  engine.done.length = 0
  await offer(run, { canary: [{ ...canary, policyLogprobs: [-9] }] })
  const second = await keeper.update(soon())
  assert.equal(engine.done, [])
  assert.is.not(second.manifestId, first.manifestId)
  assert.is(second.manifest.round, first.manifest.round + 1)
  assert.is(await keeper.update(soon()), second)
})

test('a mirror keeps all published files of its newest versions, any other node only the adapters', async () => {
  for (const mirrors of [false, true]) {
    const { run, keeper, blobs } = await open({ mirrors })
    const published: PolicyManifest['blobs'][] = []
    for (let version = 0; version < 4; version++) {
      if (version > 0) await run.coordinator.publish()
      const { manifest } = await keeper.update(soon())
      await keeper.fetchRest(soon())
      published.push(manifest.blobs)
    }
    const held = await Promise.all(
      published.map(async (files) => {
        const there = await Promise.all(files.map(({ sha256 }) => blobs.isWhole(sha256, soon())))
        return files.filter((_, i) => there[i]).map(({ role }) => role)
      }),
    )
    const all = published[3]!.map(({ role }) => role)
    assert.ok(all.length >= 5 && all.includes('model-signature'))
    const each = mirrors ? all : ['adapter']
    assert.equal(held[3], each)
    assert.equal([held[1], held[2]], [each, each], 'three versions are kept')
    assert.not(held[0]!.includes('adapter'))
  }
})

test('an adapter that was fetched ahead is loaded at the next update, and not before', async () => {
  const { run, engine, keeper, blobs } = await open()
  await keeper.fetchAhead(soon())
  assert.equal([engine.done, keeper.loaded], [[], null])
  const { manifest } = run.coordinator.snapshots.newest()!
  const adapter = manifest.blobs.find(({ role }) => role === 'adapter')!
  assert.ok(await blobs.isWhole(adapter.sha256, soon()))
  await keeper.update(soon())
  assert.equal(engine.done[0], `policy ${adapter.sha256.slice(0, 8)}`)
  // Of the version in force there is nothing to fetch.
  await blobs.remove(adapter.sha256)
  await keeper.fetchAhead(soon())
  assert.not.ok(await blobs.has(adapter.sha256))
})

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const why = await work.catch((error: unknown) => error)
  return why instanceof NodeError ? why.message : `no refusal: ${why}`
}

test('a canary that is longer than any rollout is reported as an error of the run', async () => {
  const { run, engine, keeper } = await open()
  await offer(run, { canary: [canary] })
  engine.score = async () => Promise.reject(new EngineError('context_full', '4096 tokens exceed 1024'))
  assert.match(await codeOf(keeper.update(soon())), /^canary_failed: the run's canary does not fit .*4096 tokens/)
  engine.score = async () => Promise.reject(new EngineError('engine_failed', 'no memory'))
  assert.match(await codeOf(keeper.update(soon())), /^no refusal: EngineError: engine_failed/)
})

test('a disk error during a fetch stops the node, with the folder and the system’s message', async () => {
  const { blobs, keeper } = await open()
  await rm(blobs.directory, { recursive: true })
  await writeFile(blobs.directory, 'not a folder')
  assert.match(await codeOf(keeper.update(soon())), new RegExp(`^unwritable: ${blobs.directory}: ENOTDIR`))
})

test('a run whose groups are too large to send is refused before any work', async () => {
  const { run, engine, keeper } = await open()
  const { limits } = run.coordinator.snapshots.newest()!.manifest
  await offer(run, { limits: { ...limits, groupSize: 64, maxRolloutTokens: 20_000 } })
  const why = await keeper.update(soon()).catch((error: Error) => error)
  assert.match((why as Error).message, /^incompatible: the run's groups of 64 rollouts of up to 20000 tokens/)
  assert.equal(engine.done, [])
})

test('a run with an unknown tool-call format, reward or type of caches is refused with a list of the known ones', async () => {
  const { run, engine, keeper } = await open()
  const { policy } = run.coordinator.snapshots.newest()!.manifest
  const other = async (change: Partial<typeof policy>): Promise<string> => {
    const changed = { ...policy, ...change }
    await offer(run, { policy: changed, policyId: policyIdOf(changed) })
    return codeOf(keeper.update(soon()))
  }
  assert.match(await other({ toolCallFormat: 'morse' }), /^incompatible: .*morse: choose one of hermes/)
  assert.match(await other({ cacheType: 'q1_0' }), /^incompatible: .* caches of type q1_0, .* knows only f16 and q8_0/)
  assert.match(await other({ reward: 'applause' }), /^incompatible: .*applause: choose one of paper, outcome/)
  assert.equal(engine.done, [])
})

test('groups are scored with the policy’s reward, and the runtime is reused for the same rules', async () => {
  const { run, keeper } = await open()
  const { policy } = run.coordinator.snapshots.newest()!.manifest
  const first = await keeper.update(soon())
  assert.is(first.runtime.reward.name, 'paper')
  await offer(run, {})
  assert.is((await keeper.update(soon())).runtime, first.runtime)
  const aware = { ...policy, reward: 'outcome' }
  await offer(run, { policy: aware, policyId: policyIdOf(aware), canary: [canary] })
  const second = await keeper.update(soon())
  assert.is(second.runtime.reward.name, 'outcome')
  assert.is.not(second.manifest.policyId, first.manifest.policyId)
})

test('after a failed canary the policy is applied and checked again', async () => {
  const { run, engine, keeper } = await open()
  const honest = await keeper.update(soon())
  await run.coordinator.publish()
  await offer(run, { canary: [{ ...canary, policyLogprobs: [-9] }] })
  const why = await keeper.update(soon()).catch((error: Error) => error)
  assert.match((why as Error).message, /^canary_failed: /)
  assert.is(keeper.loaded, honest)
  engine.done.length = 0
  await offer(run, { canary: [canary] })
  assert.is.not((await keeper.update(soon())).manifest.policyId, honest.manifest.policyId)
  assert.equal(engine.done.slice(1), ['score'])
})

test.run()

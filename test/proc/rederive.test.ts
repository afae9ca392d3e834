// needs: python

import '../../swarm/polyfill.js'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultPython, trainerFolder } from '../../coordinator/jobs/python.js'
import { openAdapterLibrary } from '../../node/adapters/library.js'
import { type MadeStep, makeStep, type StepInput } from '../../node/rederivation/make-step.js'
import { openVersion } from '../../node/rederivation/published-version.js'
import { pulledVersions } from '../../node/rederivation/pulled-versions.js'
import { type RederiveParts, rederiveVersion } from '../../node/rederivation/rederive-version.js'
import { DIFFERENCE_LIMIT, REDERIVATION_CHECKS, type Rederivation } from '../../node/rederivation/verdict.js'
import { trainingBatch } from '../../proto/index.js'
import { openTokenizer, type Tokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, rulesNamed } from '../../rollout/episode/index.js'
import { checkPeerId, readKey } from '../../swarm/index.js'
import { DEMO_CALIBRATION } from '../attackers/calibration.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { filesOf, forgeVersion, withOptimizer, withParent } from '../support/dishonest-versions.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { createMachine, demoModel, type Machine } from '../support/programs.js'
import { stated } from '../support/stated.js'
import { type Run, settled, startRun, stop, tells } from './runs.js'

/** Re-derivation of a small run of the real programs, by a stranger: honest, and after each lie of an operator. */

interface Context {
  on: Machine
  run: Run
  folder: string
  key: PrivateKey
  tokenizer: Tokenizer
  /** Returns the folder of an honest version. */
  pull: RederiveParts['pull']
  /** The honest step 2, made again once. */
  honest: MadeStep
  input: StepInput
  close?: () => Promise<void>
}

const STEP = 2
const test = suite<Context>('rederive')

const signal = (): AbortSignal => AbortSignal.timeout(4 * PATIENCE_MS)

test.before(
  stated(async (context) => {
    context.on = await createMachine()
    context.folder = await mkdtemp(join(tmpdir(), 'prove-rederive-'))
    context.run = await startRun(context.on, 'run', {
      config: {
        versions: STEP,
        batchGroups: 1,
        audit: { calibrations: [DEMO_CALIBRATION], probation: 1, leastShare: 0.01 },
        trainer: { settings: { lora: { rank: 4, alpha: 8 }, optimizer: { lr: 1e-3, warmupSteps: 0 } } },
      },
    })
    const node = context.run.node('volunteer')
    for (const wanted of [1, STEP])
      await context.run.coordinator.until(
        `version ${wanted}`,
        tells('published', ({ version }) => version === wanted),
      )
    await node.until('the end of the run', settled)
    await stop(node)
    context.key = (await readKey(context.run.dataDir))!.privateKey
    context.tokenizer = await openTokenizer(demoModel())
    const { address, runId } = context.run
    const coordinator = { peerId: checkPeerId(runId), addresses: [address] }
    const library = await openAdapterLibrary(
      { coordinator, others: [], web: null },
      join(context.folder, 'library'),
      signal(),
    )
    context.pull = pulledVersions(library, join(context.folder, 'honest'))
    context.close = () => library.close()
  }),
)
test.after(async ({ on, folder, tokenizer, close }) => {
  await on.close()
  await close?.()
  await tokenizer?.close()
  await rm(folder, { recursive: true, force: true })
})

function partsOf(context: Context, name: string, change: Partial<RederiveParts> = {}): RederiveParts {
  const { run, folder, tokenizer, pull } = context
  return {
    ...{ run: run.runId, pull, python: defaultPython(), packageFolder: trainerFolder, base: demoModel() },
    ...{ device: 'cpu', folder: join(folder, name) },
    runtimeOf: (rules) => createEpisodeRuntime(CATALOGUE.values(), tokenizer, rulesNamed(rules)),
    ...change,
  }
}

/** Re-derives version 2 from other folders. The honest result of the trainer is used again, because it depends on the evidence alone. */
const rederiveFrom = (context: Context, folders: Readonly<Record<number, string>>): Promise<Rederivation> =>
  rederiveVersion(
    STEP,
    partsOf(context, 'unused', {
      pull: async (version, until) => folders[version] ?? context.pull(version, until),
      make: async () => context.honest,
    }),
    signal(),
  )

const faultOf = ({ fault, follows }: Rederivation): string => {
  assert.is(follows, false)
  return `${fault!.check}: ${fault!.detail}`
}

test('a stranger makes a step again: every check passes, and the update is within rounding', async (context) => {
  await mkdir(join(context.folder, 'first'))
  const found = await rederiveVersion(
    STEP,
    partsOf(context, 'first', {
      make: async (input, parts, until) => {
        context.input = input
        context.honest = await makeStep(input, parts, until)
        return context.honest
      },
    }),
    signal(),
  )
  assert.is(found.fault, null)
  assert.equal(
    found.passed.map(({ check }) => check),
    [...REDERIVATION_CHECKS],
  )
  assert.ok(found.difference! <= DIFFERENCE_LIMIT)
  assert.match(found.passed.find(({ check }) => check === 'draws')!.detail, /^1 groups sampled by their seeds/)
})

test('the command prints the verdict on each step', async ({ run, folder }) => {
  const program = join(checkout, 'dist', 'node', 'main.js')
  const args = ['adapters', 'rederive', run.address, '--all', '--model', demoModel(), '--data-dir', join(folder, 'cli')]
  const { stdout, exitCode } = await execa(process.execPath, [program, ...args], { cancelSignal: patience() })
  assert.is(exitCode, 0)
  assert.equal(
    stdout.split('\n').map((line) => /^step (\d) follows from its evidence: 9 checks passed/.exec(line)?.[1]),
    ['1', '2'],
  )
})

/** Makes step 2 in a dishonest way, and publishes the result with the honest evidence. */
async function lie(context: Context, name: string, change: (input: StepInput) => StepInput): Promise<string> {
  const { folder, key, pull, input } = context
  const place = join(folder, name)
  await mkdir(place)
  const made = await makeStep(change(input), partsOf(context, name), signal())
  const forged = join(folder, `${name}-published`)
  await forgeVersion({ from: await pull(STEP, signal()), to: forged, key, files: filesOf(made) })
  return forged
}

test('a group that was dropped from the training is noticed', async (context) => {
  const forged = await lie(context, 'dropped', (input) => ({
    ...input,
    leftOut: [input.batch.groups[0]!.leaseId],
  }))
  assert.match(faultOf(await rederiveFrom(context, { [STEP]: forged })), /^update: the published adapter differs by/)
})

test('another learning rate is noticed, whether it is stated or not', async (context) => {
  const { key, folder } = context
  const forged = await lie(context, 'rate', (input) => withOptimizer(input, { lr: 3e-3 }))
  assert.match(faultOf(await rederiveFrom(context, { [STEP]: forged })), /^update: the published adapter differs by/)
  const stating = join(folder, 'rate-stated')
  await forgeVersion({
    ...{ from: forged, to: stating, key },
    provenance: (honest) => JSON.parse(JSON.stringify(honest).replaceAll('"lr":0.001', '"lr":0.003')),
  })
  assert.match(faultOf(await rederiveFrom(context, { [STEP]: stating })), 'settings: the trainer did not use')
})

test('another parent is noticed, whether it is stated or not', async (context) => {
  const { key, folder, pull, run } = context
  const zero = await openVersion(await pull(0, signal()), run.runId, signal())
  const forged = await lie(context, 'parent', (input) => withParent(input, zero))
  assert.match(faultOf(await rederiveFrom(context, { [STEP]: forged })), /^update: the published adapter differs by/)
  const stating = join(folder, 'parent-stated')
  const named = zero.sha256Of('adapter_model.safetensors')!
  const honest = (await openVersion(await pull(1, signal()), run.runId, signal())).sha256Of(
    'adapter_model.safetensors',
  )!
  await forgeVersion({
    ...{ from: forged, to: stating, key },
    provenance: (provenance) => JSON.parse(JSON.stringify(provenance).replaceAll(honest, named)),
  })
  assert.match(faultOf(await rederiveFrom(context, { [STEP]: stating })), 'parent: it continues from another')
})

test('an exchanged adapter is noticed, for trainers and for volunteers', async (context) => {
  const { key, folder, pull } = context
  const earlier = await pull(1, signal())
  for (const name of ['adapter_model.safetensors', 'adapter.gguf', 'optimizer.safetensors']) {
    const forged = join(folder, `exchanged-${name}`)
    await forgeVersion({ from: await pull(STEP, signal()), to: forged, key, files: { [name]: join(earlier, name) } })
    assert.match(
      faultOf(await rederiveFrom(context, { [STEP]: forged })),
      /^update: the published .* (differs|has other)/,
    )
  }
})

test('records that do not fit each other, the bodies or earlier signatures are noticed', async (context) => {
  const { key, folder, pull } = context
  const honest = await pull(STEP, signal())
  const { record, bodies } = trainingBatch.parse(await readFile(join(honest, 'training-batch.bin')))
  const [first] = record.groups
  const lies: [string, Partial<typeof record>, RegExp][] = [
    ['another-lease', { groups: record.groups.map((group) => ({ ...group, index: group.index + 1 })) }, /^leases: /],
    ['a-stranger', { groups: record.groups.map((group) => ({ ...group, node: run(group.node) })) }, /^membership: /],
    ['twice', { groups: [first!, first!] }, /^membership: .* twice/],
    ['fewer-verdicts', { verdicts: record.verdicts.slice(1) }, /^membership: /],
    ['another-secret', { rounds: record.rounds.map((round) => ({ ...round, secret: 'ab'.repeat(32) })) }, /^leases: /],
    [
      'another-version',
      { groups: record.groups.map((group) => ({ ...group, version: 1 - group.version })) },
      /^leases: |^batch: /,
    ],
  ]
  for (const [name, change, expected] of lies) {
    const forged = join(folder, name)
    const batch = join(folder, `${name}.bin`)
    const own = change.groups ? change.groups.map((_, i) => bodies[Math.min(i, bodies.length - 1)]!) : bodies
    await writeFile(batch, trainingBatch.encode({ record: { ...record, ...change }, bodies: own }))
    await forgeVersion({ from: honest, to: forged, key, files: { 'training-batch.bin': batch } })
    assert.match(faultOf(await rederiveFrom(context, { [STEP]: forged })), expected, name)
  }
})

/** Another key of the same length. */
const run = (node: string): string => `${node.slice(0, -4)}aaaa`

test.run()

// needs: python

import '../../swarm/polyfill.js'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openNodeStore } from '../../node/store/store.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { type Line, machinesOf, type Program } from '../support/programs.js'
import {
  checkRun,
  childOf,
  ENDLESS,
  type EventOf,
  isEngine,
  isTrainer,
  nextVersion,
  nobodyLeft,
  peerOf,
  type Run,
  readLog,
  settled,
  startRun,
  statedBy,
  stop,
  tells,
  trainerSays,
} from './runs.js'

/** Which of several groups, leases or batches a process is killed after. */
const random = seededRandom(20_260_302)
const machine = machinesOf(test)

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

test('a run whose processes are killed one after the other loses nothing, trains nothing twice and completes', async () => {
  const on = await machine()
  const stated: RunEvent[] = []
  const remember = (program: Program): void => void stated.push(...statedBy(program))
  const kill = async ({ coordinator }: Run): Promise<void> => {
    coordinator.kill('SIGKILL')
    assert.is(await coordinator.ended, 'SIGKILL')
    remember(coordinator)
  }
  const restart = async (run: Run): Promise<Run> => {
    await kill(run)
    return run.again()
  }
  let run = await startRun(on, 'run', { config: { versions: ENDLESS } })
  let ann = run.node('ann')
  const ben = run.node('ben')
  const [annPeer, benPeer] = [await peerOf(ann), await peerOf(ben)]

  // The trainer's worker, in the middle of its first step.
  await run.coordinator.until('a batch in training', trainerSays('training'))
  process.kill(childOf(on, isTrainer), 'SIGKILL')
  await run.coordinator.until('a new trainer', trainerSays('ready'), run.coordinator.lines.length)
  await run.coordinator.until(
    'the step after all',
    tells('trained', ({ step }) => step === 1),
  )

  // The coordinator, when the log says that a batch exists but the spool may not hold it yet.
  await run.coordinator.until(
    'the second batch',
    tells('batched', ({ step }) => step === 2),
  )
  run = await restart(run)

  // The coordinator, right after a verdict.
  const verdicts = random.int(1, 3)
  let judged = 0
  await run.coordinator.until(
    'a verdict',
    tells('judged', () => ++judged === verdicts),
  )
  run = await restart(run)

  // A node, while it generates a group: until it is met with a lease in hand, which goes back when it comes again.
  const leases = random.int(1, 2)
  const annsLeases = new Set<string>()
  const isLease = tells('leased', ({ node, leaseId }) => node === annPeer && annsLeases.add(leaseId).size > 0)
  const isReturn = tells('released', ({ leaseId }) => annsLeases.has(leaseId))
  let given = 0
  await run.coordinator.until('a lease', (line) => isLease(line) && ++given === leases)
  for (let last: Line | null = null; last === null || !isReturn(last); ) {
    ann.kill('SIGKILL')
    assert.is(await ann.ended, 'SIGKILL')
    run.coordinator.lines.forEach(isLease)
    const seen = run.coordinator.lines.length
    ann = run.node('ann')
    last = await run.coordinator.until('word of its lease', (line) => isLease(line) || isReturn(line), seen)
  }

  // The coordinator, when a version is out and its batch hardly recorded as trained.
  await run.coordinator.until('a version', tells('published'), run.coordinator.lines.length)
  run = await restart(run)
  assert.is(await peerOf(ann), annPeer)

  // The engines of both nodes; the nodes go on with new ones.
  const enginesOf = () => on.processes().filter(({ command }) => isEngine(command))
  // Those of a killed node end by themselves, and soon.
  for (const signal = patience(); enginesOf().length !== 2; await sleep(50))
    assert.not(signal.aborted, `${enginesOf().length} engines`)
  const engines = enginesOf()
  const before = [ann, ben].map(({ lines }) => lines.length)
  for (const { pid } of engines) process.kill(pid, 'SIGKILL')
  await Promise.all([ann, ben].map((node, i) => node.until('a group', ({ type }) => type === 'group', before[i])))

  await kill(run)
  run = await run.again({ versions: nextVersion(stated) })
  const complete = await run.coordinator.until('the end of the run', ({ type }) => type === 'complete')
  const version = complete.version as number
  assert.is(version, nextVersion(stated))
  await Promise.all([ann, ben].map((node) => node.until('its rest', settled, node.lines.length)))
  remember(run.coordinator)
  await stop(ann, ben, run.coordinator)
  await nobodyLeft(on)

  const { events, state } = await readLog(run.dataDir)
  const of = <T extends RunEvent['type']>(type: T) => events.filter((event) => event.type === type) as EventOf<T>[]
  checkRun(events, state, stated)
  assert.equal(
    of('batched').map(({ step }) => step),
    Array.from({ length: version }, (_, i) => i + 1),
  )
  assert.equal(of('batch-refused'), [])
  const last = JSON.parse(readFileSync(join(run.dataDir, 'jobs', 'steps', `step-${version}`, 'step.json'), 'utf8'))
  assert.equal(last.consumed, Object.fromEntries(of('batched').map(({ batchId, step }) => [batchId, step])))
  assert.not.ok(existsSync(join(run.dataDir, 'jobs', 'steps', `step-${version + 1}`)))

  assert.equal([...state.openLeases.keys()], [], 'no lease is left open')
  for (const [name, peer] of [
    ['ann', annPeer],
    ['ben', benPeer],
  ] as const) {
    const store = await openNodeStore(join(on.folder, 'run', name, 'store'), run.runId)
    const [ledger, pending] = await Promise.all([store.verdicts(), store.pending()])
    await store.close()
    assert.equal(pending, [])
    assert.equal(
      ledger.map(({ leaseId, accepted, code, credit }) => ({ leaseId, accepted, code, credit })),
      (state.nodes.get(peer)?.verdicts ?? []).map(({ leaseId, accepted, code, credit }) => ({
        ...{ leaseId, accepted, code, credit },
      })),
    )
    assert.ok(ledger.length > 0)
    assert.equal(
      ledger.filter(({ accepted }) => !accepted),
      [],
      'nothing honest was refused',
    )
  }
})

test('a run that was backed up while it worked goes on in another folder when the first is lost', async () => {
  const on = await machine()
  const coordinator = (...args: string[]) =>
    execa(process.execPath, [join(checkout, 'dist', 'coordinator', 'main.js'), ...args], {
      cwd: on.folder,
      timeout: PATIENCE_MS,
    })
  const first = await startRun(on, 'run', { config: { versions: ENDLESS, batchGroups: 1 } })
  const node = first.node('node')
  await first.coordinator.until(
    'the first step',
    tells('trained', ({ step }) => step === 1),
  )
  // Of what a node does for the first coordinator after the backup, the second one knows nothing.
  await stop(node)
  const statedBefore = statedBy(first.coordinator)
  const { stdout } = await coordinator('backup', 'backup', '--config', join('run', 'run.yaml'))
  const size = stdout.match(
    new RegExp(`backup contains the run ${first.runId}: (\\d+) events and \\d+ files, .*verified`),
  )
  assert.ok(size, stdout)
  first.coordinator.kill('SIGKILL')
  assert.is(await first.coordinator.ended, 'SIGKILL')
  isPrivate(first.dataDir)
  const { events: lost } = await readLog(first.dataDir)
  rmSync(first.dataDir, { recursive: true })

  // Without a coordinator on it a data folder is backed up likewise.
  await coordinator('restore', 'backup', '--data-dir', 'elsewhere')
  await coordinator('backup', 'again', '--data-dir', 'elsewhere')
  const restored = await coordinator('restore', 'again', '--data-dir', join('run', 'restored'))
  assert.match(restored.stdout, /prove-coordinator start, where run\.yaml contains dataDir: .*restored/)
  const second = await first.again({ dataDir: 'restored', versions: nextVersion(statedBy(first.coordinator)) })
  assert.is(second.runId, first.runId)
  const nodeAgain = second.node('node')
  await second.coordinator.until('the end of the run', ({ type }) => type === 'complete')
  await nodeAgain.until('its rest', settled)
  await stop(nodeAgain, second.coordinator)
  const dataDir = join(on.folder, 'run', 'restored')
  isPrivate(dataDir)
  const { events, state } = await readLog(dataDir)
  // The first coordinator may have trained on between the backup and its end: that is lost, and nothing before it.
  const kept = Number(size[1])
  assert.equal(events.slice(0, kept), lost.slice(0, kept))
  checkRun(events, state, [...statedBefore, ...statedBy(second.coordinator)])
})

/** Nobody but the owner may read anything that the programs have put into a data folder. */
function isPrivate(dataDir: string): void {
  for (const name of ['.', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) {
    const found = statSync(join(dataDir, name))
    // The trainer's files are no secrets: it opens them to readers, whom the folders keep out.
    if (!found.isFile() || !name.startsWith(join('jobs', 'steps'))) assert.is(found.mode & 0o077, 0, name)
  }
}

test('two runs side by side do not disturb each other, and their adapters can be listed and pulled', async () => {
  const on = await machine()
  const small = { config: { groupSize: 4, batchGroups: 1, versions: 1 } }
  const runs = [await startRun(on, 'east', small), await startRun(on, 'west', small)] as const
  const nodes = runs.map((run) => run.node('node'))
  for (const { coordinator } of runs)
    assert.is((await coordinator.until('its end', ({ type }) => type === 'complete')).version, 1)

  const adapters = (...args: string[]) =>
    execa(process.execPath, [join(checkout, 'dist', 'node', 'main.js'), 'adapters', ...args], {
      cwd: on.folder,
      timeout: PATIENCE_MS,
    })
  const [east] = runs
  const { stdout: list } = await adapters('show', east.address, '--data-dir', 'researcher')
  assert.match(list, /^version 1 of prove-demo-base, /)
  const listed = new Map(
    [...list.matchAll(/^ {2}(\S+) +(\d+) B {2}([0-9a-f]{64})$/gm)].map(([, role, size, hash]) => [
      role!,
      { size, hash },
    ]),
  )
  assert.equal(
    [...listed.keys()],
    [
      ...['adapter', 'peft-weights', 'peft-config', 'base-config', 'optimizer', 'random-state', 'training-batch'],
      ...['provenance', 'model-signature'],
    ],
  )
  const { stdout: pulled } = await adapters('pull', 'pulled', east.address, '--data-dir', 'researcher')
  const step = join(east.dataDir, 'jobs', 'steps', 'step-1')
  const FILES = [
    ['adapter', 'adapter.gguf', join(step, 'adapter.gguf')],
    ['peft-weights', 'adapter_model.safetensors', join(step, 'adapter', 'adapter_model.safetensors')],
    ['peft-config', 'adapter_config.json', join(step, 'adapter', 'adapter_config.json')],
    ['base-config', 'base/config.json', join(step, 'base', 'config.json')],
  ] as const
  assert.equal(pulled.split('\n'), [
    ...FILES.map(([, name]) => join('pulled', name)),
    ...['provenance.json', 'model.sig', 'README.md', 'manifest.sealed'].map((name) => join('pulled', name)),
  ])
  for (const [role, name, trained] of FILES) {
    const path = join(on.folder, 'pulled', name)
    assert.is(sha256(path), listed.get(role)!.hash)
    assert.is(sha256(path), sha256(trained))
    assert.is(String(readFileSync(path).length), listed.get(role)!.size)
  }
  const config = JSON.parse(readFileSync(join(on.folder, 'pulled', 'adapter_config.json'), 'utf8'))
  assert.equal([config.peft_type, config.r, config.lora_alpha], ['LORA', 4, 8])
  assert.is(
    readFileSync(join(on.folder, 'pulled', 'adapter.gguf'))
      .subarray(0, 4)
      .toString(),
    'GGUF',
  )
  const provenance = JSON.parse(readFileSync(join(on.folder, 'pulled', 'provenance.json'), 'utf8'))
  assert.is(provenance.run, east.runId)
  assert.equal(
    Object.keys(provenance.files),
    FILES.map(([, name]) => name),
  )
  const [own] = provenance.recipes
  assert.is(own.settings.optimizer.beta2, 0.99, 'defaults are named')
  assert.equal(
    provenance.steps.map(({ step: number, recipe }: { step: number; recipe: number }) => [number, recipe]),
    [[1, 0]],
  )
  const { stdout: checked } = await adapters('verify', 'pulled', '--run', east.address, '--certificate', 'run.pem')
  assert.match(checked, new RegExp(`signed by the run ${east.runId}`))
  assert.match(readFileSync(join(on.folder, 'run.pem'), 'utf8'), /^-----BEGIN CERTIFICATE-----/)
  const { dsseEnvelope } = JSON.parse(readFileSync(join(on.folder, 'pulled', 'model.sig'), 'utf8'))
  const { predicate } = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString())
  const signed = predicate.resources.map(({ name, digest }: { name: string; digest: string }) => [name, digest])
  assert.equal(
    signed,
    [...FILES.map(([, name]) => name), 'provenance.json']
      .sort()
      .map((name) => [name, sha256(join(on.folder, 'pulled', name))]),
  )

  const { stdout: whole } = await adapters('pull', 'whole', east.address, '--evidence', '--data-dir', 'researcher')
  const evidence = ['optimizer.safetensors', 'rng.json', 'training-batch.bin'].map((name) => join('whole', name))
  assert.equal(
    whole.split('\n').filter((path) => !pulled.includes(path.replace('whole', 'pulled'))),
    evidence,
  )

  await Promise.all(nodes.map((node) => node.until('its rest', settled)))
  const peers = await Promise.all(nodes.map(peerOf))
  await stop(...nodes, ...runs.map(({ coordinator }) => coordinator))
  await nobodyLeft(on)
  for (const [i, run] of runs.entries()) {
    const { state } = await readLog(run.dataDir)
    assert.equal([...state.nodes.keys()], [peers[i]])
    assert.equal([...new Set([...state.leases.values()].map(({ node }) => node))], [peers[i]])
  }
})

test('a stop in the middle of everything ends all processes, the trainer and the engine among them', async () => {
  const on = await machine()
  const run = await startRun(on, 'run', { config: { versions: 4, batchGroups: 1 } })
  const node = run.node('node')
  await run.coordinator.until('a batch in training', trainerSays('training'))
  assert.ok(childOf(on, isTrainer))
  assert.ok(childOf(on, isEngine))
  await stop(run.coordinator, node)
  await nobodyLeft(on)
})

test.run()

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import getPort from 'get-port'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import type { RunEvent } from '../../coordinator/events.js'
import { openRecorder } from '../../coordinator/recorder.js'
import type { RunState } from '../../coordinator/run-state.js'
import { openEventLog } from '../../coordinator/store.js'
import { openNodeStore } from '../../node/store.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { checkout } from '../checkout.js'
import { writeDemoTasks } from '../demo-tasks.js'
import { createMachine, demoModel, type Line, type Machine, type Program } from './programs.js'

const model = demoModel()
/** Which of several groups, leases or batches a process is killed after. */
const random = seededRandom(20_260_302)
const VERSIONS = 6
const STEPS = Array.from({ length: VERSIONS }, (_, i) => i + 1)
const machines: Machine[] = []
const machine = async (): Promise<Machine> => {
  const made = await createMachine()
  machines.push(made)
  return made
}
test.after.each(async () => {
  for (const made of machines.splice(0)) await made.close()
})

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/** Whether a coordinator's progress line tells of an event that fits. */
const tells =
  <T extends RunEvent['type']>(type: T, fits: (event: EventOf<T>) => boolean = () => true) =>
  (line: Line): boolean => {
    const event = line.event as RunEvent
    return line.type === 'event' && event.type === type && fits(event as EventOf<T>)
  }
const trainerSays =
  (event: string) =>
  (line: Line): boolean =>
    line.type === 'trainer' && (line.event as { event: string }).event === event

interface Run {
  readonly dataDir: string
  readonly address: string
  readonly runId: string
  readonly coordinator: Program
  again(): Promise<Run>
  node(name: string): Program
}

/** Starts a coordinator for a small run in `<name>/`, or starts it again. */
async function startRun(on: Machine, name: string, settings: object): Promise<Run> {
  const folder = join(on.folder, name)
  const port = await getPort()
  await mkdir(folder)
  await writeDemoTasks(join(folder, 'tasks'), 50, 1)
  await writeFile(
    join(folder, 'run.yaml'),
    stringify({
      dataDir: 'coordinator',
      listen: [`/ip4/127.0.0.1/tcp/${port}`],
      base: { path: model, name: 'prove-demo-base' },
      tasks: { dataset: 'tasks' },
      groupSize: 4,
      batchGroups: 2,
      maxStaleness: 2,
      limits: { maxTurnTokens: 64, maxRolloutTokens: 512, maxAssistantTurns: 4 },
      trainer: { settings: { lora: { rank: 4, alpha: 8 } } },
      ...settings,
    }),
  )
  const start = async (): Promise<Run> => {
    const coordinator = on.start('coordinator', ['start', '--config', join(folder, 'run.yaml'), '--json'], name)
    const { addresses, runId } = await coordinator.until('its address', ({ type }) => type === 'listening')
    const [address] = addresses as string[]
    return {
      dataDir: join(folder, 'coordinator'),
      address: address!,
      runId: runId as string,
      coordinator,
      again: start,
      node: (node) =>
        on.start(
          'node',
          ['join', address!, '--data-dir', join(folder, node), '--model', model, '--cpu', '--lanes', '4', '--json'],
          node,
        ),
    }
  }
  return start()
}

const peerOf = async (node: Program): Promise<string> =>
  (await node.until('its name', ({ type }) => type === 'ready')).peerId as string

/** A node with nothing to do and nothing to wait for, after the run is complete. */
const settled = (line: Line): boolean => line.type === 'idle' && line.reason === 'paused' && line.waiting === 0

async function stop(...programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.kill('SIGTERM')
  for (const program of programs) assert.is(await program.ended, 0, `${program.name}: ${program.stderr.slice(-2000)}`)
}

async function nobodyLeft(on: Machine): Promise<void> {
  const deadline = Date.now() + 5000
  while (on.processes().length > 0 && Date.now() < deadline) await sleep(50)
  assert.equal(on.processes(), [])
}

async function readLog(dataDir: string): Promise<{ events: RunEvent[]; state: RunState }> {
  const log = await openEventLog(join(dataDir, 'log'))
  const events: RunEvent[] = []
  for await (const event of log.replay()) events.push(event)
  const recorder = await openRecorder(log, () => undefined)
  await recorder.close()
  return { events, state: recorder.state }
}

const childOf = (on: Machine, fits: (command: string) => boolean): number => {
  const found = on.processes().find(({ command }) => fits(command))
  if (!found)
    throw new Error(
      `no such process among\n${on
        .processes()
        .map(({ command }) => command)
        .join('\n')}`,
    )
  return found.pid
}
const isTrainer = (command: string): boolean =>
  command.includes('-m prove_trainer') && !command.includes('torch.distributed.run')

const isEngine = (command: string): boolean => command.includes('engine/worker')

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

test('a run whose processes are killed one after the other loses nothing, trains nothing twice and completes', async () => {
  const on = await machine()
  const told: RunEvent[] = []
  const remember = ({ lines }: Program): void => {
    for (const line of lines) if (line.type === 'event') told.push(line.event as RunEvent)
  }
  const restart = async (run: Run): Promise<Run> => {
    run.coordinator.kill('SIGKILL')
    assert.is(await run.coordinator.ended, 'SIGKILL')
    remember(run.coordinator)
    return run.again()
  }
  let run = await startRun(on, 'run', { versions: VERSIONS })
  let ann = run.node('ann')
  const ben = run.node('ben')
  const [annPeer, benPeer] = [await peerOf(ann), await peerOf(ben)]

  // The trainer's worker, in the middle of its first step.
  await run.coordinator.until('a batch in training', trainerSays('training'))
  process.kill(childOf(on, isTrainer), 'SIGKILL')
  const seen = run.coordinator.lines.length
  await run.coordinator.until('a new trainer', trainerSays('ready'), seen)
  await run.coordinator.until(
    'the step after all',
    tells('trained', ({ step }) => step === 1),
    seen,
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

  // A node, while it generates a group.
  const leases = random.int(1, 2)
  let given = 0
  await run.coordinator.until(
    'a lease',
    tells('leased', ({ node }) => node === annPeer && ++given === leases),
  )
  ann.kill('SIGKILL')
  assert.is(await ann.ended, 'SIGKILL')
  ann = run.node('ann')

  // The coordinator, when a version is out and its batch hardly recorded as trained.
  await run.coordinator.until('a version', tells('published'), run.coordinator.lines.length)
  run = await restart(run)
  assert.is(await peerOf(ann), annPeer)

  // The engines of both nodes; the nodes go on with new ones.
  const engines = on.processes().filter(({ command }) => isEngine(command))
  assert.is(engines.length, 2)
  const before = [ann, ben].map(({ lines }) => lines.length)
  for (const { pid } of engines) process.kill(pid, 'SIGKILL')
  await Promise.all([ann, ben].map((node, i) => node.until('a group', ({ type }) => type === 'group', before[i])))

  const { version } = await run.coordinator.until('the end of the run', ({ type }) => type === 'complete')
  assert.is(version, VERSIONS)
  await Promise.all([ann, ben].map((node) => node.until('its rest', settled, node.lines.length)))
  remember(run.coordinator)
  await stop(ann, ben, run.coordinator)
  await nobodyLeft(on)

  const { events, state } = await readLog(run.dataDir)
  const of = <T extends RunEvent['type']>(type: T) => events.filter((event) => event.type === type) as EventOf<T>[]
  const written = new Set(events.map((event) => JSON.stringify(event)))
  assert.equal(
    told.filter((event) => !written.has(JSON.stringify(event))),
    [],
    'whatever was told is in the log',
  )

  const batched = of('batched').flatMap(({ leaseIds }) => leaseIds)
  assert.is(new Set(batched).size, batched.length, 'a group is in at most one batch')
  for (const leaseId of batched) {
    const { accepted, flat } = state.judged.get(leaseId)!
    assert.ok(accepted && !flat)
  }
  assert.is(new Set(of('judged').map(({ leaseId }) => leaseId)).size, of('judged').length, 'a group is judged once')
  assert.equal(
    of('published').map((event) => [event.version, event.step]),
    [0, ...STEPS].map((number) => [number, number]),
    'every version is published once',
  )
  assert.equal(
    of('trained').map(({ step, batchId }) => [step, batchId]),
    of('batched').map(({ step, batchId }) => [step, batchId]),
    'every batch is trained once, in order',
  )
  assert.equal(
    of('batched').map(({ step }) => step),
    STEPS,
  )
  assert.equal(of('batch-refused'), [])
  const last = JSON.parse(readFileSync(join(run.dataDir, 'spool', 'steps', `step-${VERSIONS}`, 'step.json'), 'utf8'))
  assert.equal(last.consumed, Object.fromEntries(of('batched').map(({ batchId, step }) => [batchId, step])))
  assert.not.ok(existsSync(join(run.dataDir, 'spool', 'steps', `step-${VERSIONS + 1}`)))

  assert.ok(
    of('released').some(({ leaseId }) => state.leases.get(leaseId)!.node === annPeer),
    'the lease of the killed node went back',
  )
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

test('two runs side by side do not disturb each other, and their adapters can be listed and pulled', async () => {
  const on = await machine()
  const small = { groupSize: 4, batchGroups: 1, versions: 1 }
  const runs = [await startRun(on, 'east', small), await startRun(on, 'west', small)] as const
  const nodes = runs.map((run) => run.node('node'))
  for (const { coordinator } of runs)
    assert.is((await coordinator.until('its end', ({ type }) => type === 'complete')).version, 1)

  const adapters = (...args: string[]) =>
    execa(process.execPath, [join(checkout, 'dist', 'node', 'main.js'), 'adapters', ...args], {
      cwd: on.folder,
      timeout: 30_000,
    })
  const [east] = runs
  const { stdout: list } = await adapters('list', east.address, '--data-dir', 'researcher')
  assert.match(list, /^version 1 of prove-demo-base, /)
  const listed = new Map(
    [...list.matchAll(/^ {2}(\S+) +(\d+) B {2}([0-9a-f]{64})$/gm)].map(([, role, size, hash]) => [
      role!,
      { size, hash },
    ]),
  )
  assert.equal([...listed.keys()], ['adapter', 'peft-weights', 'peft-config', 'provenance'])
  const { stdout: pulled } = await adapters('pull', east.address, 'pulled', '--data-dir', 'researcher')
  const step = join(east.dataDir, 'spool', 'steps', 'step-1')
  const FILES = [
    ['adapter', 'adapter.gguf', join(step, 'adapter.gguf')],
    ['peft-weights', 'adapter_model.safetensors', join(step, 'adapter', 'adapter_model.safetensors')],
    ['peft-config', 'adapter_config.json', join(step, 'adapter', 'adapter_config.json')],
  ] as const
  assert.equal(pulled.split('\n'), [
    ...FILES.map(([, name]) => join('pulled', name)),
    join('pulled', 'provenance.json'),
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
  const run = await startRun(on, 'run', { versions: 4, batchGroups: 1 })
  const node = run.node('node')
  await run.coordinator.until('a batch in training', trainerSays('training'))
  assert.ok(childOf(on, isTrainer))
  assert.ok(childOf(on, isEngine))
  await stop(run.coordinator, node)
  await nobodyLeft(on)
})

test.run()

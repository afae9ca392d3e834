// needs: python, namespaces

import '../../swarm/polyfill.js'
import { EventEmitter, once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import pino from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { writeFindings } from '../../coordinator/jobs/batch-folder.js'
import type { RankState } from '../../coordinator/jobs/cluster.js'
import type { TrainEngine } from '../../coordinator/jobs/train-engine.js'
import { isOfRanks, type TrainerEvent } from '../../coordinator/jobs/trainer-events.js'
import { createTrainerProcess } from '../../coordinator/jobs/trainer-process.js'
import { checkout } from '../support/checkout.js'
import { createNamespaceLab, type NamespaceLab } from '../support/network-namespaces.js'
import { patience } from '../support/patience.js'

// The trainer's ranks on two hosts, each with an address and a cable of its own, and one folder that both see.

/** Sums over ranks come in another order than those of one. */
const CLOSE = 1e-5

interface Context {
  folder: string
  lab: NamespaceLab | null
  engine: TrainEngine | null
}

const python = join(checkout, '.venv', 'bin', 'python')
const packageFolder = join(checkout, 'coordinator', 'trainer')
const test = suite<Context>('a cluster')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-cluster-'))
  context.lab = null
  context.engine = null
})
test.after.each(async ({ folder, lab, engine }) => {
  await engine?.close()
  await lab?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** Tensors of a step's adapter, by name. */
function adapterOf(jobs: string, step: number): Map<string, Float32Array> {
  const bytes = readFileSync(join(jobs, 'steps', `step-${step}`, 'adapter', 'adapter_model.safetensors'))
  const from = 8 + Number(bytes.readBigUInt64LE(0))
  const { __metadata__: _, ...header } = JSON.parse(bytes.toString('utf8', 8, from))
  return new Map(
    Object.entries(header as Record<string, { dtype: string; data_offsets: [number, number] }>).map(
      ([name, { dtype, data_offsets }]) => {
        assert.is(dtype, 'F32')
        const [start, end] = data_offsets.map((offset) => from + offset) as [number, number]
        return [name, new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + end))]
      },
    ),
  )
}

function apart(one: Map<string, Float32Array>, other: Map<string, Float32Array>): number {
  assert.equal([...one.keys()].sort(), [...other.keys()].sort())
  return Math.max(
    ...[...one].flatMap(([name, values]) => [...values.map((v, i) => Math.abs(v - other.get(name)![i]!))]),
  )
}

/** The process that this one works for, as Linux has it. */
const parentOf = (pid: number): number => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1])

const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`)

test('two hosts make the steps of one rank, whichever of them is lost in the middle of a step', async (context) => {
  const { folder } = context
  const jobs = join(folder, 'jobs')
  await execa(python, [join(packageFolder, 'tests', 'cluster_jobs.py'), folder], {
    env: { PYTHONPATH: packageFolder, OMP_NUM_THREADS: '1' },
  })
  await rename(join(jobs, 'batches', 'batch-2'), join(folder, 'later'))
  context.lab = await createNamespaceLab()
  const hosts = [await context.lab.host('one', '10.78.0.1'), await context.lab.host('two', '10.78.0.2')]
  for (const [i, { id }] of hosts.entries()) await context.lab.name(id, `10.78.0.${i + 1}`)
  const events: TrainerEvent[] = []
  const news = new EventEmitter()
  const engine = createTrainerProcess(
    {
      python,
      packageFolder,
      jobs,
      base: join(folder, 'base.gguf'),
      config: join(folder, 'trainer.json'),
      processes: 1,
      launch: {
        hosts: hosts.map(({ id }) => id),
        command: ['ip', 'netns', 'exec', '{host}', '{program}'],
        env: { GLOO_SOCKET_IFNAME: 'eth0' },
        silenceMs: 10_000,
      },
      logFile: join(folder, 'trainer.log'),
      // Of one batch it would be: each of the losses is more than it may have of its own.
      maxFailures: 1,
      onEvent: (event) => {
        events.push(event)
        news.emit('event')
      },
    },
    pino({ level: 'silent' }),
  )
  context.engine = engine
  const said = (name: string): TrainerEvent[] => events.filter(({ event }) => event === name)
  const ranks = (): readonly RankState[] => events.filter(isOfRanks).at(-1)!.ranks
  /** What the trainer makes of a batch once its evidence, if it is asked for, has been answered. */
  const stepOf = async (batchId: string): Promise<number> => {
    const signal = patience()
    for (;;) {
      const outcome = await engine.outcome(batchId, signal)
      if (outcome.kind === 'trained') return outcome.step
      assert.is(outcome.kind, 'measured', JSON.stringify(outcome))
    }
  }
  /** Until ranks of the next life have all reported, and wait in the middle of a step: gradients are there, and findings are not. */
  const inTheMiddle = async (life: number): Promise<void> => {
    const signal = patience()
    const waits = (): boolean => said('ready').length >= life && said('measured').length >= life
    while (!waits() || ranks().filter(({ ended }) => !ended).length < 2) await once(news, 'event', { signal })
  }

  assert.equal(await engine.start(patience()), { step: 0 })
  assert.is(said('ready')[0]!.worldSize, 2)
  await inTheMiddle(1)
  assert.equal(await engine.outcome('batch-1', patience()), { kind: 'measured' })
  // A rank where the coordinator is not.
  const away = ranks().find(({ rank }) => rank === 1)!
  process.kill(away.pid, 'SIGKILL')
  await inTheMiddle(2)
  // Then all of the host where the hosts meet: its agent, and with that its rank.
  const [first] = ranks()
  process.kill(parentOf(first!.pid), 'SIGKILL')
  await inTheMiddle(3)
  assert.not.ok(existsSync(join(jobs, 'steps', 'step-1')))
  await writeFindings(jobs, 'batch-1', [])
  assert.is(await stepOf('batch-1'), 1)

  await rename(join(folder, 'later'), join(jobs, 'batches', 'batch-2'))
  assert.is(await stepOf('batch-2'), 2)
  assert.is(JSON.parse(await readFile(join(jobs, 'steps', 'step-2', 'step.json'), 'utf8')).worldSize, 2)
  for (const step of [1, 2]) {
    const far = apart(adapterOf(jobs, step), adapterOf(join(folder, 'one', 'jobs'), step))
    assert.ok(far < CLOSE, `step ${step} is off by ${far}`)
  }
  assert.ok(apart(adapterOf(jobs, 1), adapterOf(jobs, 2)) > 100 * CLOSE, 'a step does something')
  assert.equal(readdirSync(join(jobs, 'batches')).sort(), ['batch-1', 'batch-2'], 'no batch was blamed')

  const last = ranks()
  await engine.close()
  assert.equal(
    last.map(({ pid }) => isThere(pid)),
    [false, false],
  )
  assert.not.ok(existsSync(join(jobs, 'launch', 'lease.json')))
})

test.run()

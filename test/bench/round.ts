import '../../swarm/polyfill.js'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { createTrainerProcess } from '../../coordinator/jobs/trainer-process.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import { canaryPrompts } from '../../coordinator/versions/canary.js'
import { trainPolicy } from '../../lab/ablation/train-policy.js'
import { fittingTasks } from '../../lab/fitting-tasks.js'
import { type EngineProcess, hashFile, openEngine, openTokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, DEFAULT_LIMITS, DEFAULT_RULES, rulesNamed } from '../../rollout/episode/index.js'
import { isAuditor, isEngine, isTrainer, startRun, statedBy, stop, tells } from '../proc/runs.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { createMachine, type Line } from '../support/programs.js'
import { DEMO_CALIBRATION, DEMO_MODEL, PYTHON, TRAINER_FOLDER } from './demo-stage.js'
import { type ProcessTime, processTree } from './process-tree.js'
import type { BenchResult } from './result.js'

/** Number of volunteers of the swarm, and of engines of the single process. */
const WORKERS = 2
const GROUP_SIZE = 8
const BATCH_GROUPS = 12
const TASKS = 500
/** Number of steps after which each volunteer has made the first 20 groups of its key, which are all audited. */
const SETTLING = 5
/** Number of measured steps. */
const STEPS = Number(process.env.PROVE_BENCH_VERSIONS ?? 5)
/** A learning rate that keeps the policy, so that both do the same work from the first step to the last. */
const TRAINER = { seed: 0, optimizer: { lr: 0 } }
const TIMEOUT_MS = 25 * 60_000

const PARTS = ['engines', 'driver and reward', 'trainer', 'coordinator', 'audit process'] as const
type Part = (typeof PARTS)[number]

/** Costs of the same steps. */
interface Work {
  readonly wallSeconds: number
  readonly cpuSeconds: Record<Part, number>
  /** Tokens of the batches, prompts included. */
  readonly tokens: number
}

/** Measures a round of the swarm and the same work in one process: the CPU time of each part, and the trainer's waiting time. */
export async function run(): Promise<{ versions: Record<string, string>; results: BenchResult[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const dataset = join(folder, 'tasks')
    await writeDemoTasks(dataset, TASKS, 1)
    const alone = await measureAlone(folder, dataset, signal)
    const { waits, ...swarm } = await measureSwarm(dataset)
    return { versions: {}, results: [...compare(swarm, alone), ...waits] }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs `trainPolicy` like `prove-lab ablate`: without a network and without verification. */
async function measureAlone(folder: string, dataset: string, signal: AbortSignal): Promise<Work> {
  const jobs = join(folder, 'jobs')
  const config = join(folder, 'trainer.json')
  await mkdir(join(jobs, 'batches'), { recursive: true })
  const limits = DEFAULT_LIMITS
  const { tasks: all, environments } = await readTaskSet([dataset], 'train')
  const tokenizer = await openTokenizer(DEMO_MODEL)
  const runtime = createEpisodeRuntime(environments, tokenizer, rulesNamed(DEFAULT_RULES))
  const { tasks } = fittingTasks(all, runtime, limits)
  const baseSha256 = await hashFile(DEMO_MODEL, signal)
  const canaries = canaryPrompts(tasks, runtime, limits)
  await writeFile(config, JSON.stringify({ schema: 1, baseSha256, baseModel: { name: 'demo' }, canaries, ...TRAINER }))
  let tokens = 0
  const trainer = createTrainerProcess(
    {
      ...{ python: PYTHON, packageFolder: TRAINER_FOLDER, jobs, base: DEMO_MODEL, config, processes: 1 },
      ...{ logFile: join(folder, 'trainer.log'), maxFailures: 1 },
      onEvent: (news) => {
        tokens += tokensOf(news)
      },
    },
    pino({ level: 'error' }, pino.destination(2)),
  )
  const engines: EngineProcess[] = []
  try {
    for (let i = 0; i < WORKERS; i++)
      engines.push(
        await openEngine({
          ...{ modelPath: DEMO_MODEL, threads: 1, contextSize: limits.maxRolloutTokens, slots: GROUP_SIZE, gpu: false },
        }),
      )
    const stretch = createStretch(
      () => processTree(process.pid),
      () => tokens,
    )
    const settings = { steps: STEPS + 1, batchGroups: BATCH_GROUPS, groupSize: GROUP_SIZE, seed: 0, limits }
    const onProgress = (done: number) => {
      if (done === 1) stretch.begin()
      if (done === settings.steps) stretch.end()
    }
    await trainPolicy({ tasks, runtime, engines, trainer, jobs, baseSha256, onProgress }, settings, signal)
    return stretch.work()
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
    await trainer.close()
    await tokenizer.close()
  }
}

/** Runs the programs as the demo does, on one machine. */
async function measureSwarm(dataset: string): Promise<Work & { readonly waits: BenchResult[] }> {
  const machine = await createMachine()
  try {
    const swarm = await startRun(machine, 'swarm', {
      slots: GROUP_SIZE,
      writeTasks: async () => undefined,
      config: {
        tasks: { dataset },
        ...{ groupSize: GROUP_SIZE, batchGroups: BATCH_GROUPS, maxStaleness: 1, versions: SETTLING + STEPS },
        ...{ leases: {}, limits: {}, rounds: { registrationMs: 1000 } },
        audit: { calibrations: [DEMO_CALIBRATION] },
        trainer: { settings: TRAINER },
      },
    })
    const { coordinator } = swarm
    const nodes = Array.from({ length: WORKERS }, (_, i) => swarm.node(`volunteer-${i}`))
    const stretch = createStretch(
      () => [coordinator, ...nodes].flatMap(({ pid }) => processTree(pid)),
      () => coordinator.lines.reduce((sum, line) => sum + (line.type === 'trainer' ? tokensOf(line.event) : 0), 0),
    )
    const published = (wanted: number): Promise<Line> =>
      coordinator.until(
        `version ${wanted}`,
        tells('published', ({ version }) => version === wanted),
      )
    for (let version = 1; version < SETTLING; version++) await published(version)
    await published(SETTLING)
    stretch.begin()
    for (let version = SETTLING + 1; version <= SETTLING + STEPS; version++) await published(version)
    stretch.end()
    const waits = waitsOf(statedBy(coordinator))
    await stop(...nodes, coordinator)
    return { ...stretch.work(), waits }
  } finally {
    await machine.close()
  }
}

function tokensOf(news: unknown): number {
  const { event, tokens } = news as { event: string; tokens?: number }
  return event === 'training' ? tokens! : 0
}

function createStretch(processes: () => ProcessTime[], tokens: () => number) {
  const look = () => ({ atMs: performance.now(), processes: processes(), tokens: tokens() })
  let first = look()
  let last = first
  return {
    begin() {
      first = look()
    },
    end() {
      last = look()
    },
    work(): Work {
      const before = new Map(first.processes.map(({ pid, seconds }) => [pid, seconds]))
      const cpu = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>
      for (const { pid, command, seconds } of last.processes) cpu[partOf(command)] += seconds - (before.get(pid) ?? 0)
      return { wallSeconds: (last.atMs - first.atMs) / 1000, cpuSeconds: cpu, tokens: last.tokens - first.tokens }
    },
  }
}

function partOf(command: string): Part {
  if (isEngine(command)) return 'engines'
  if (isTrainer(command)) return 'trainer'
  if (isAuditor(command)) return 'audit process'
  return command.includes('coordinator/main') ? 'coordinator' : 'driver and reward'
}

function compare(swarm: Work, alone: Work): BenchResult[] {
  const perToken = (work: Work, part: Part): number => (1000 * work.cpuSeconds[part]) / work.tokens
  const whole = (work: Work): number => PARTS.reduce((sum, part) => sum + perToken(work, part), 0)
  const line = (what: string, value: number, of: number): BenchResult => ({
    ...{ metric: `processor time: ${what}`, value, unit: 'ms per token trained on' },
    ...(of > 0 ? { peer: `one process: ${of.toPrecision(3)}`, ratio: value / of } : {}),
  })
  const speed = ({ tokens, wallSeconds }: Work): number => tokens / wallSeconds
  return [
    ...PARTS.map((part) => line(part, perToken(swarm, part), perToken(alone, part))),
    line('all', whole(swarm), whole(alone)),
    {
      ...{ metric: 'tokens trained on', value: speed(swarm), unit: '/s' },
      ...{ peer: `one process: ${speed(alone).toPrecision(3)}`, ratio: speed(swarm) / speed(alone) },
    },
  ]
}

/** Returns the trainer's idle time between the measured steps, and the part of it with a full batch available. */
function waitsOf(events: readonly RunEvent[]): BenchResult[] {
  const judgedAt = new Map<string, number>()
  const batches = new Map<number, { readonly atMs: number; readonly fullMs: number }>()
  let [idle, ready, whole, before] = [0, 0, 0, 0]
  for (const event of events) {
    if (event.type === 'judged') judgedAt.set(event.leaseId, event.atMs)
    if (event.type === 'batched') {
      const fullMs = Math.max(...event.leaseIds.map((leaseId) => judgedAt.get(leaseId)!))
      batches.set(event.step, { atMs: event.atMs, fullMs })
    }
    if (event.type !== 'trained') continue
    if (event.step > SETTLING) {
      const { atMs, fullMs } = batches.get(event.step)!
      whole += event.atMs - before
      idle += Math.max(0, atMs - before)
      ready += Math.max(0, atMs - Math.max(before, fullMs))
    }
    before = event.atMs
  }
  const share = (metric: string, ms: number): BenchResult => ({
    metric,
    value: (100 * ms) / whole,
    unit: '% of the time',
  })
  return [
    share('trainer without a batch', idle),
    share('trainer without a batch while the groups of one lay there', ready),
  ]
}

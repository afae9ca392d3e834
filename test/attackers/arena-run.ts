import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { stringify } from 'yaml'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import { canaryPrompts } from '../../coordinator/versions/canary.js'
import { openTokenizer } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  DEFAULT_LIMITS,
  DEFAULT_RULES,
  type EpisodeRuntime,
  rulesNamed,
  type Task,
} from '../../rollout/episode/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { PATIENCE_MS } from '../support/patience.js'
import { createMachine, demoModel, type Machine, type Program } from '../support/programs.js'

/** Rollouts per group: most groups of the demo model then have the 500 sampled tokens that tests on numbers need. */
export const GROUP_SIZE = 10
export const BATCH_GROUPS = 4
/** Largest share of a batch from one key. */
export const PER_KEY = 0.5
/** A key is past its probation soon, and after as many groups again has every other one audited. */
export const PROBATION = 3
export const LEAST_SHARE = 0.5
/** Few, so that copies for the same task come about soon. */
const TASKS = 8
export const LIMITS_OF_RUN = DEFAULT_LIMITS
const LORA = { rank: 8, alpha: 16 }
/**
 * Of a matrix's standard deviation, of the first adapter's entries, and of the trainer: each makes a policy that is off by
 * a few tenths of a nat, and still does its tasks at times.
 */
const NOISE = 0.1
const ADAPTER_SIZE = 0.04
const LEARNING_RATE = 0.001

/** A run on this machine: the real coordinator in a process of its own, on the loopback. */
export interface ArenaRun {
  readonly machine: Machine
  readonly coordinator: Program
  readonly runId: string
  readonly address: string
  readonly dataDir: string
  readonly model: string
  readonly baseSha256: string
  /** The base with noise on its weights. */
  readonly noisyModel: string
  readonly tasks: readonly Task[]
  readonly runtime: EpisodeRuntime
  close(): Promise<void>
}

/** @param calibration  file of `prove-lab calibrate` for the demo model */
export async function startArenaRun(calibration: string): Promise<ArenaRun> {
  const machine = await createMachine()
  const { folder } = machine
  const model = demoModel()
  const tokenizer = await openTokenizer(model)
  const close = async (): Promise<void> => {
    await machine.close()
    await tokenizer.close()
  }
  try {
    const dataset = join(folder, 'tasks')
    await writeDemoTasks(dataset, TASKS, 1)
    const { tasks } = await readTaskSet([dataset], 'train')
    const runtime = createEpisodeRuntime(CATALOGUE.values(), tokenizer, rulesNamed(DEFAULT_RULES))
    const dataDir = join(folder, 'coordinator')
    const baseSha256 = createHash('sha256')
      .update(await readFile(model))
      .digest('hex')
    await mkdir(join(dataDir, 'jobs'), { recursive: true })
    const canaries = canaryPrompts(tasks, runtime, LIMITS_OF_RUN)
    const settings = join(folder, 'trainer.json')
    await writeFile(
      settings,
      JSON.stringify({ schema: 1, baseSha256, baseModel: { name: NAME }, canaries, lora: LORA }),
    )
    await makeModels(model, folder, join(dataDir, 'jobs'), settings)
    const config = join(folder, 'run.yaml')
    await writeFile(config, stringify(runYaml(model, calibration)))
    const coordinator = machine.start('coordinator', ['start', '--config', config, '--json', '--no-dry-run'])
    const { runId, addresses } = await coordinator.until('its address', ({ type }) => type === 'listening')
    await coordinator.until('the first policy', ({ event }) => (event as { type?: string })?.type === 'published')
    return {
      machine,
      coordinator,
      runId: runId as string,
      address: (addresses as string[])[0]!,
      dataDir,
      model,
      baseSha256,
      noisyModel: join(folder, 'noisy.gguf'),
      tasks,
      runtime,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const NAME = 'prove-demo-base'

const runYaml = (model: string, calibration: string): object => ({
  dataDir: 'coordinator',
  listen: ['/ip4/127.0.0.1/tcp/0'],
  base: { path: model, name: NAME },
  tasks: { dataset: 'tasks' },
  groupSize: GROUP_SIZE,
  batchGroups: BATCH_GROUPS,
  versions: 100_000,
  // On a busy machine a group takes long, and a late one would be refused for that.
  leases: { perNode: 8, durationMs: 4 * PATIENCE_MS },
  audit: { calibrations: [calibration], probation: PROBATION, leastShare: LEAST_SHARE },
  influence: { perKey: PER_KEY },
  // A key waits for the round after the one it registered in: not for long here.
  rounds: { registrationMs: 300 },
  dashboard: { listen: '127.0.0.1:0' },
  trainer: { settings: { lora: LORA, optimizer: { lr: LEARNING_RATE, warmupSteps: 0 } } },
})

async function makeModels(model: string, folder: string, jobs: string, settings: string): Promise<void> {
  const sizes = ['--noise', String(NOISE), '--adapter-size', String(ADAPTER_SIZE)]
  const script = join(checkout, 'test', 'attackers', 'models.py')
  await execa(
    join(checkout, '.venv', 'bin', 'python'),
    [script, model, folder, ...sizes, '--jobs', jobs, '--config', settings],
    { env: { PYTHONPATH: join(checkout, 'coordinator', 'trainer') }, timeout: PATIENCE_MS },
  )
}

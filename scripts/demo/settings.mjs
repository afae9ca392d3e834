// The demo's options, the run that it starts and the tasks that it makes.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const model = join(root, 'models', 'demo', 'prove-demo-base-f16.gguf')

/** The environment of which the base saw few demonstrations (models/demo/README.md): the volunteers teach it. */
export const NEW_ENVIRONMENT = 'iot_devices'
/** The environments that the base knows well. */
export const KNOWN_ENVIRONMENTS = ['banking', 'calendar', 'email', 'issue_tracker']

const DEFAULTS = { seed: 0, versions: 8, nodes: 3, tasks: 300, samples: 1 }
/** Reward presets to train with. The evaluation reports the rewards of all presets. */
export const REWARDS = ['paper', 'outcome']
/** Engines of the evaluation: one per core, each with 32 rollouts at a time. */
export const EVALUATORS = Math.min(availableParallelism(), 4)
const TRAINING_TASKS = 1500

export function readOptions() {
  const names = [...Object.keys(DEFAULTS), 'reward']
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const flag = { type: 'boolean', default: false }
  const { values } = parseArgs({ options: { ...options, gpu: flag, built: flag, gate: flag } })
  const numbers = Object.entries(DEFAULTS).map(([name, standard]) => {
    const value = values[name] === undefined ? standard : Number(values[name])
    if (!Number.isInteger(value) || value < (name === 'seed' ? 0 : 1))
      throw new Error(`--${name} must be a positive integer`)
    return [name, value]
  })
  const { reward = 'outcome' } = values
  if (!REWARDS.includes(reward)) throw new Error(`--reward must be one of ${REWARDS.join(', ')}`)
  return { ...Object.fromEntries(numbers), reward, gpu: values.gpu, built: values.built, gate: values.gate }
}

/** Returns the demo's run.yaml. With small batches of groups a version takes well under a minute on two cores. */
export const runConfig = ({ seed, versions, reward, gpu }) => ({
  dataDir: 'coordinator',
  listen: ['/ip4/127.0.0.1/tcp/0'],
  base: { path: model, name: 'prove-demo-base' },
  tasks: { dataset: 'tasks' },
  reward,
  groupSize: 8,
  batchGroups: 32,
  versions,
  maxStaleness: 1,
  // The base has no calibration yet, so groups are not audited.
  audit: { calibrations: [] },
  rounds: { registrationMs: 1000 },
  trainer: { settings: { seed, device: gpu ? 'cuda' : 'cpu', optimizer: { lr: 1.5e-3 } } },
})

const synthesize = (environments, seed, training, heldOut) => [
  ...['--profile', 'demo', '--environments', environments.join(','), '--seed', `${seed}`],
  ...['--examples', `${training + heldOut}`, '--validation', '0', '--held-out', `${heldOut / (training + heldOut)}`],
]

/** Data sets by folder, with the options of `prove-lab synthesize` that make them. */
export const datasets = ({ seed, tasks }) => ({
  tasks: synthesize([NEW_ENVIRONMENT], seed, TRAINING_TASKS, tasks),
  // Without a training split: only the evaluation uses them.
  'known-tasks': synthesize(KNOWN_ENVIRONMENTS, seed, 0, tasks),
})

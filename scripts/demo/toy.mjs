// The demo of the small model of this package, with short rounds: a version takes well under a minute on two cores.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root, runProgram, runSwarm } from './swarm-run.mjs'
import { compared, reportOf, solvedAndRewardsOf } from './toy-report.mjs'
import { createView } from './view.mjs'

const models = join(root, 'models', 'demo')
const model = join(models, 'prove-demo-base-f16.gguf')
/** Calibrations of this model on a CPU and on an NVIDIA GPU, measured by `prove-lab calibrate`. */
const calibrations = ['calibration-f16.json', 'calibration-f16-cuda.json'].map((name) => join(models, name))
/** The environments whose vocabulary the model has learned. */
const ENVIRONMENTS = ['banking', 'calendar', 'email', 'issue_tracker']
const TRAINING_TASKS = 1500
/** Engines of the evaluation: one per core, each with 32 rollouts at a time. */
const EVALUATORS = Math.min(availableParallelism(), 4)

const runConfig = ({ seed, versions, reward, gpu }) => ({
  dataDir: 'coordinator',
  listen: ['/ip4/127.0.0.1/tcp/0'],
  base: { path: model, name: 'prove-demo-base' },
  tasks: { dataset: 'tasks' },
  reward,
  groupSize: 8,
  batchGroups: 12,
  versions,
  maxStaleness: 1,
  audit: { calibrations },
  rounds: { registrationMs: 1000 },
  trainer: { settings: { seed, device: gpu ? 'cuda' : 'cpu', optimizer: { lr: 1e-3 } } },
})

/** Runs the demo, see runDemo in smollm2.mjs. */
export async function runDemo(options, { folder, stop, say, show }) {
  const { seed, versions, nodes, tasks, samples, reward, gpu } = options
  const { signal } = stop
  if (!existsSync(model)) throw new Error(`the demo model is missing: ${model}; restore it with git checkout models`)
  await writeFile(join(folder, 'run.yaml'), JSON.stringify(runConfig(options), null, 2))
  const started = performance.now()
  const view = createView(nodes, { say, show })
  try {
    say(`Demo run in ${folder}: 1 coordinator, ${nodes} volunteers, ${versions} versions`)
    say(`Making ${TRAINING_TASKS} training and ${tasks} held-out tasks …`)
    const examples = TRAINING_TASKS + tasks
    await runProgram(
      'lab',
      [
        ...['synthesize', '--profile', 'demo', '--environments', ENVIRONMENTS.join(','), '--seed', `${seed}`],
        ...['--examples', `${examples}`, '--validation', '0', '--held-out', `${tasks / examples}`, '--out', 'tasks'],
      ],
      { folder, signal, log: 'synthesize.log' },
    )
    const adapter = await runSwarm({
      ...{ folder, stop, nodes, model, nodeFlags: [...(gpu ? [] : ['--cpu']), '--slots', '8'], view },
    })
    view.close()
    say(
      `\nTraining took ${view.seconds().toFixed(0)} s. Evaluating version 0 and version ${versions} on ${tasks} held-out tasks …`,
    )
    const evaluation = await runProgram(
      'lab',
      [
        ...['eval', '--model', model, '--adapter', join(adapter, 'adapter.gguf'), '--dataset', 'tasks'],
        ...[
          '--tasks',
          `${tasks}`,
          '--seed',
          `${seed}`,
          '--samples',
          `${samples}`,
          '--workers',
          `${EVALUATORS}`,
          '--json',
        ],
      ],
      { folder, signal },
    )
    const [heldOut, likeliest] = ['sampled', 'greedy'].map((kind) => compared(JSON.parse(evaluation), kind, reward))
    const summary = {
      heldOut: solvedAndRewardsOf(heldOut),
      // The same tasks at temperature 0.
      likeliest: solvedAndRewardsOf(likeliest),
      ...{ reward, versions, nodes, seed, groups: view.groups },
      seconds: { run: Math.round((performance.now() - started) / 1000) },
    }
    return { summary, adapter, report: reportOf(summary, heldOut, likeliest) }
  } finally {
    view.close()
  }
}

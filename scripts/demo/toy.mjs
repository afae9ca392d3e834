// The demo of the small model of this package: it knows some environments well and one hardly, and volunteers teach it that one.
// A version takes well under a minute on two cores.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { taskThatChanged } from './one-task.mjs'
import { isReached } from './report-lines.mjs'
import { root, runProgram, runSwarm } from './swarm-run.mjs'
import { makeTasks } from './tasks.mjs'
import { createTimeLeft } from './time-left.mjs'
import { comparisons, goalOf, reportOf } from './toy-report.mjs'
import { createView } from './view.mjs'

const models = join(root, 'models', 'demo')
const model = join(models, 'prove-demo-base-f16.gguf')
/** Calibration of this model on a CPU, measured by `prove-lab calibrate`. There is none for a GPU: its groups are not audited. */
const calibrations = [join(models, 'calibration-f16.json')]
/** The environment of which the model saw few demonstrations (models/demo/README.md). */
const NEW = 'social_media'
/** The environments that it knows well. */
const KNOWN = ['banking', 'calendar', 'email', 'issue_tracker', 'iot_devices']
/** Tasks that the run trains on. Those of known environments keep the model from forgetting them. */
const TRAINING_TASKS = { new: 1500, known: 120 }
/** Tasks at temperature 0 on the new environment for each task of the two other comparisons. */
const FEWER = 3
/** Engines of the evaluation: one per core, each with 32 rollouts at a time. */
const EVALUATORS = Math.min(availableParallelism(), 4)
/** Seconds of each phase on two idle cores: a version, and a rollout of the evaluation. */
const PLANNED = { tasks: 30, version: 20, rollout: 0.05 }

const runConfig = ({ seed, versions, reward, gpu }) => ({
  dataDir: 'coordinator',
  listen: ['/ip4/127.0.0.1/tcp/0'],
  base: { path: model, name: 'prove-demo-base' },
  tasks: { dataset: ['new', 'known'] },
  reward,
  groupSize: 8,
  batchGroups: 16,
  versions,
  maxStaleness: 1,
  audit: { calibrations: gpu ? [] : calibrations },
  rounds: { registrationMs: 1000 },
  trainer: { settings: { seed, device: gpu ? 'cuda' : 'cpu', optimizer: { lr: 1e-3 } } },
})

/** Runs the demo, see runDemo in smollm2.mjs. */
export async function runDemo(options, { folder, stop, say, show }) {
  const { seed, versions, nodes, tasks, samples, reward, gpu } = options
  const { signal } = stop
  const fewer = Math.ceil(tasks / FEWER)
  if (!existsSync(model)) throw new Error(`the demo model is missing: ${model}; restore it with git checkout models`)
  await writeFile(join(folder, 'run.yaml'), JSON.stringify(runConfig(options), null, 2))
  const left = createTimeLeft({
    tasks: PLANNED.tasks,
    training: versions * PLANNED.version,
    evaluation: 2 * (tasks + fewer + fewer * samples) * PLANNED.rollout,
  })
  const started = performance.now()
  const seconds = {}
  let since = started
  const took = (phase) => {
    seconds[phase] = Math.round((performance.now() - since) / 1000)
    since = performance.now()
  }
  const onVersion = (version) => left.note('training', version / versions)
  const view = createView(nodes, { say, show, more: () => [left.text()], onVersion })
  try {
    say(`Demo run in ${folder}: 1 coordinator, ${nodes} volunteers, ${versions} versions; ${left.text()}`)
    say(`Making tasks: ${NEW} to learn, ${KNOWN.join(', ')} to remember …`)
    const made = { seed, folder, signal, say }
    await makeTasks([NEW], { ...made, training: TRAINING_TASKS.new, heldOut: tasks, out: 'new' })
    await makeTasks(KNOWN, { ...made, training: TRAINING_TASKS.known, heldOut: fewer, out: 'known' })
    took('tasks')

    left.note('training')
    const adapter = await runSwarm({
      ...{ folder, stop, nodes, model, nodeFlags: [...(gpu ? [] : ['--cpu']), '--slots', '16'] },
      view,
    })
    view.close()
    took('training')

    left.note('evaluation')
    say(`\nEvaluating version 0 and version ${versions} on held-out tasks; ${left.text()}`)
    const after = join(adapter, 'adapter.gguf')
    const evaluate = async (dataset, count, flags) => {
      const output = await runProgram(
        'lab',
        [
          ...['eval', '--model', model, '--adapter', after, '--dataset', dataset, '--tasks', `${count}`],
          ...['--seed', `${seed}`, '--workers', `${EVALUATORS}`, '--json', ...flags],
        ],
        { folder, signal },
      )
      return JSON.parse(output)
    }
    const evaluations = {
      greedy: await evaluate('new', tasks, ['--samples', '0']),
      known: await evaluate('known', fewer, ['--samples', '0']),
      sampled: await evaluate('new', fewer, ['--no-greedy', '--samples', `${samples}`]),
    }
    const played = await taskThatChanged({
      ...{ model, after, dataset: join(folder, 'new') },
      ...{ reward, limit: tasks, signal },
    })
    took('evaluation')
    const summary = {
      environments: { new: NEW, known: KNOWN },
      ...comparisons(evaluations, reward),
      ...{ reward, versions, nodes, seed, groups: view.groups },
      seconds: { ...seconds, run: Math.round((performance.now() - started) / 1000) },
    }
    const goal = goalOf(summary)
    return {
      summary: { ...summary, goalReached: isReached(goal) },
      adapter,
      report: reportOf(summary, evaluations, { goal, played }),
    }
  } finally {
    view.close()
  }
}

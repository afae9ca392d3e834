// The demo with a published model: SmolLM2-135M-Instruct, taught by demonstrations of some environments and by the swarm in all of them.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { taskThatChanged } from './one-task.mjs'
import { realReportOf } from './real-report.mjs'
import { root } from './settings.mjs'
import { BASE_NAME, prepareSmolLM2 } from './smollm2.mjs'
import { removeOldRuns, runProgram, runSwarm } from './swarm-run.mjs'
import { createTimeLeft } from './time-left.mjs'
import { createView } from './view.mjs'

/** The environments that the warm start saw often, and those of which it saw few tasks (models/smollm2/README.md). */
export const KNOWN = ['banking', 'calendar', 'issue_tracker']
export const HARDLY_KNOWN = ['crm', 'iot_devices']

const models = join(root, 'models', 'smollm2')
const DEFAULTS = { seed: 0, versions: 12, tasks: 48, samples: 8 }
const NODES = 2
const TRAINING_TASKS = 1000
/** Seconds of each phase on two idle cores; a version, and a task of the evaluation with its samples, take these. */
const PLANNED = { base: 60, tasks: 40, version: 115, evaluatedTask: 8 }

function readOptions(args) {
  const options = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, { type: 'string' }]))
  const { values } = parseArgs({ args, options })
  return Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, standard]) => {
      const value = values[name] === undefined ? standard : Number(values[name])
      if (!Number.isInteger(value) || value < (name === 'seed' ? 0 : 1))
        throw new Error(`--${name} must be a positive integer`)
      return [name, value]
    }),
  )
}

/** Returns run.yaml. The settings are those of models/smollm2/README.md. */
const runConfig = ({ seed, versions, base }) => ({
  dataDir: 'coordinator',
  listen: ['/ip4/127.0.0.1/tcp/0'],
  base: { path: base, name: BASE_NAME },
  tasks: { dataset: 'tasks' },
  reward: 'outcome',
  ...{ groupSize: 8, batchGroups: 8, versions, maxStaleness: 1 },
  leases: { durationMs: 900_000 },
  rounds: { registrationMs: 1000 },
  dashboard: { enabled: false },
  audit: { calibrations: [join(models, 'calibration-f16.json')] },
  trainer: { settings: { seed, maxTokensPerForward: 2048, maxDeltaNorm: 10, optimizer: { lr: 4e-4 } } },
})

/** Runs the demo. @param args  options on the command line */
export async function main(args, { folderOf, stop, say, screen }) {
  const options = readOptions(args)
  const { seed, versions, tasks, samples } = options
  const { signal } = stop
  const left = createTimeLeft({
    ...{ base: PLANNED.base, tasks: PLANNED.tasks, training: versions * PLANNED.version },
    evaluation: 2 * tasks * PLANNED.evaluatedTask,
  })
  const demo = join(root, '.demo')
  const folder = folderOf('smollm2')
  await removeOldRuns(join(demo, 'runs'))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'pid'), String(process.pid))
  const { view, render } = createView(NODES)
  const ticker = setInterval(() => screen?.(`${render()}  │  about ${left.minutes()} min left`), 250)
  try {
    say(
      `Demo run in ${folder}: SmolLM2-135M-Instruct, ${NODES} volunteers, ${versions} versions; about ${left.minutes()} minutes`,
    )
    left.note('base')
    const base = await prepareSmolLM2({ cache: join(root, '.cache', 'smollm2'), signal, say })
    left.note('tasks')
    const heldOut = tasks * 3
    const examples = TRAINING_TASKS + heldOut
    await runProgram(
      'lab',
      [
        ...[
          'synthesize',
          '--profile',
          'demo',
          '--environments',
          [...KNOWN, ...HARDLY_KNOWN].join(','),
          '--seed',
          `${seed}`,
        ],
        ...['--examples', `${examples}`, '--validation', '0', '--held-out', `${heldOut / examples}`, '--out', 'tasks'],
      ],
      { folder, signal, log: 'synthesize.log' },
    )
    await writeFile(join(folder, 'run.yaml'), JSON.stringify(runConfig({ seed, versions, base }), null, 2))
    await runProgram('coordinator', ['warm-start', '--config', 'run.yaml', '--from', join(models, 'warm-start')], {
      ...{ folder, signal, log: 'warm-start.log' },
    })
    left.note('training')
    const adapter = await runSwarm({
      ...{ folder, model: base, nodes: NODES, nodeFlags: ['--cpu', '--slots', '8'], stop },
      onEvent(event) {
        if (event.type === 'published') {
          Object.assign(view, { version: event.version, step: event.step })
          left.note('training', event.version / versions)
          say(
            `version ${String(event.version).padStart(3)} published  ${render()}  │  about ${left.minutes()} min left`,
          )
        }
        if (event.type !== 'judged') return
        view[event.accepted ? 'accepted' : 'refused'] += 1
        if (event.accepted) view.rewards.push(...event.rewards)
        else say(`refused: ${event.code} ${event.detail}`)
      },
      onNode(name, progress) {
        if (progress.type === 'policy') view.nodes.set(name, progress.version)
        if (progress.type === 'group') view.tokens += progress.tokens
      },
    })
    left.note('evaluation')
    say(`Evaluating the base, the warm start and version ${versions}; about ${left.minutes()} min left`)
    // The warm start is the first policy, with which the others are compared.
    const policies = [`warm=${join(models, 'warm-start', 'adapter.gguf')}`, `trained=${join(adapter, 'adapter.gguf')}`]
    const evaluate = async (environments, out) =>
      JSON.parse(
        await runProgram(
          'lab',
          [
            ...['eval', '--model', base, '--no-base', '--adapter', ...policies, '--merged', `base=${base}`],
            ...['--dataset', 'tasks', '--seed', `${seed}`],
            ...['--environments', environments.join(','), '--tasks', `${tasks}`, '--samples', `${samples}`],
            ...['--slots', '8', '--out', out, '--json'],
          ],
          { folder, signal },
        ),
      )
    const hardlyKnown = await evaluate(HARDLY_KNOWN, 'evaluation-hardly-known')
    left.note('evaluation', 0.5)
    const known = await evaluate(KNOWN, 'evaluation-known')
    const played = await taskThatChanged({
      ...{ model: base, before: join(models, 'warm-start', 'adapter.gguf'), after: join(adapter, 'adapter.gguf') },
      ...{ dataset: join(folder, 'tasks'), environments: HARDLY_KNOWN, reward: 'outcome', limit: heldOut, signal },
    })
    const groups = { accepted: view.accepted, refused: view.refused }
    const summary = {
      model: BASE_NAME,
      seed,
      versions,
      groups,
      environments: { known: KNOWN, hardlyKnown: HARDLY_KNOWN },
    }
    await rm(join(demo, 'adapter'), { recursive: true, force: true })
    await cp(adapter, join(demo, 'adapter'), { recursive: true })
    await writeFile(join(demo, 'summary.json'), `${JSON.stringify({ ...summary, known, hardlyKnown }, null, 2)}\n`)
    clearInterval(ticker)
    say(`\n${realReportOf(summary, { known, hardlyKnown }, played)}`)
  } finally {
    clearInterval(ticker)
    await rm(join(folder, 'pid'), { force: true })
  }
}

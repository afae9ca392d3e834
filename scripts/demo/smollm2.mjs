// The demo of a published model: SmolLM2-135M-Instruct. Demonstrations have taught it five environments, and volunteers teach it one that it
// has never seen.
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { taskThatChanged } from './one-task.mjs'
import { isReached } from './report-lines.mjs'
import { BASE_NAME, prepareSmolLM2 } from './smollm2-base.mjs'
import { goalOf, reportOf } from './smollm2-report.mjs'
import { root, runProgram, runSwarm } from './swarm-run.mjs'
import { makeTasks } from './tasks.mjs'
import { createTimeLeft } from './time-left.mjs'
import { createView } from './view.mjs'

const models = join(root, 'models', 'smollm2')
/** The environments of the warm start's demonstrations (models/smollm2/README.md). */
const SHOWN = ['banking', 'calendar', 'issue_tracker', 'crm', 'email']
const NEVER_SHOWN = 'video_meeting'
const NODES = 2
const TRAINING_TASKS = 600
/** Tasks at temperature 0 for each task that is played several times at temperature 1. */
const GREEDY_PER_SAMPLED = 5
/** Seconds of each phase on two idle cores: a version, and a rollout of the evaluation. */
const PLANNED = { base: 30, tasks: 20, version: 120, rollout: 1 }

/** Returns the fastest precision of the trainer on this processor: bfloat16 is slow without its instructions. */
function fastestPrecision() {
  try {
    return /\b(avx512_bf16|amx_bf16|bf16)\b/.test(readFileSync('/proc/cpuinfo', 'utf8')) ? 'bfloat16' : 'float32'
  } catch {
    return 'float32'
  }
}

/** Returns run.yaml. docs/reports/results.md has a run with these settings. */
const runConfig = ({ seed, versions }, base) => ({
  dataDir: 'coordinator',
  listen: ['/ip4/127.0.0.1/tcp/0'],
  base: { path: base, name: BASE_NAME },
  tasks: { dataset: 'never-shown' },
  reward: 'outcome',
  ...{ groupSize: 8, batchGroups: 8, versions, maxStaleness: 1 },
  leases: { durationMs: 900_000 },
  rounds: { registrationMs: 1000 },
  dashboard: { enabled: false },
  trainer: {
    settings: {
      ...{ seed, threads: 2, precision: fastestPrecision(), maxTokensPerForward: 2048, maxDeltaNorm: 10 },
      optimizer: { lr: 4e-4 },
    },
  },
})

/**
 * Runs the demo.
 * @param options  see options.mjs
 * @param context  `folder` for all files; `stop`, an AbortController that ends the demo; `say(text)` prints, `show(line)` shows a line that changes
 * @returns  `summary` for summary.json, the `report` as text, and the folder of the last `adapter`
 */
export async function runDemo({ seed, versions, tasks, samples }, { folder, stop, say, show }) {
  const { signal } = stop
  const sampled = Math.ceil(tasks / GREEDY_PER_SAMPLED)
  /** Rollouts of the evaluation. */
  const planned = 5 * tasks + 2 * sampled * samples
  const left = createTimeLeft({
    ...{ base: PLANNED.base, tasks: PLANNED.tasks, training: versions * PLANNED.version },
    evaluation: planned * PLANNED.rollout,
  })
  const started = performance.now()
  const onVersion = (version) => left.note('training', version / versions)
  const view = createView(NODES, { say, show, more: () => [left.text()], onVersion })
  try {
    say(`Demo run in ${folder}: SmolLM2-135M-Instruct, ${NODES} volunteers, ${versions} versions; ${left.text()}`)
    left.note('base')
    const base = await prepareSmolLM2({ cache: join(root, '.cache', 'smollm2'), signal, say })

    left.note('tasks')
    say(`Making tasks: ${NEVER_SHOWN} to learn, ${SHOWN.join(', ')} to remember …`)
    const made = { seed, heldOut: tasks, folder, signal, say }
    await makeTasks([NEVER_SHOWN], { ...made, training: TRAINING_TASKS, out: 'never-shown' })
    await makeTasks(SHOWN, { ...made, training: 0, out: 'shown' })

    left.note('training')
    await writeFile(join(folder, 'run.yaml'), JSON.stringify(runConfig({ seed, versions }, base), null, 2))
    const warmStart = join(models, 'warm-start')
    await runProgram('coordinator', ['warm-start', '--config', 'run.yaml', '--reuse', warmStart], {
      ...{ folder, signal, log: 'warm-start.log' },
    })
    const adapter = await runSwarm({
      ...{ folder, stop, nodes: NODES, model: base, nodeFlags: ['--cpu', '--slots', '8'] },
      view,
    })
    view.close()

    const [warm, trained] = [warmStart, adapter].map((path) => join(path, 'adapter.gguf'))
    let evaluated = 0
    const evaluate = async (dataset, rollouts, flags) => {
      left.note('evaluation', evaluated / planned)
      say(`Evaluating on held-out tasks, data set ${dataset}; ${left.text()}`)
      const output = await runProgram(
        'lab',
        [
          // The warm start is the first policy, with which the others are compared.
          ...['eval', '--model', base, '--no-base', '--adapter', `warm=${warm}`, `trained=${trained}`],
          ...['--dataset', dataset, '--seed', `${seed}`, '--json', ...flags],
        ],
        { folder, signal },
      )
      evaluated += rollouts
      return JSON.parse(output)
    }
    const greedy = ['--tasks', `${tasks}`, '--samples', '0']
    const drawn = ['--tasks', `${sampled}`, '--no-greedy', '--samples', `${samples}`]
    const neverShown = {
      greedy: await evaluate('never-shown', 3 * tasks, [...greedy, '--merged', `base=${base}`]),
      sampled: await evaluate('never-shown', 2 * sampled * samples, drawn),
    }
    const shown = { greedy: await evaluate('shown', 2 * tasks, greedy) }
    const played = await taskThatChanged({
      ...{ model: base, before: warm, after: trained, dataset: join(folder, 'never-shown') },
      ...{ reward: 'outcome', limit: tasks, signal },
    })
    const summary = {
      ...{ model: BASE_NAME, seed, versions, nodes: NODES, groups: view.groups, neverShown, shown },
      seconds: { run: Math.round((performance.now() - started) / 1000) },
    }
    const goal = goalOf(summary)
    return {
      summary: { ...summary, goalReached: isReached(goal) },
      adapter,
      report: reportOf(summary, { shown: SHOWN, neverShown: [NEVER_SHOWN] }, { goal, played }),
    }
  } finally {
    view.close()
  }
}

// Runs the whole loop on one machine: a coordinator and volunteers as separate processes, real rounds of GRPO, and an evaluation
// on held-out tasks before and after training. Usage: npm run demo -- [--seed N] [--versions N] [--nodes N] [--tasks N] [--samples N] [--reward NAME] [--gpu]
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setupOrExit } from './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const demo = join(root, '.demo')
const model = join(root, 'models', 'demo', 'prove-demo-base-f16.gguf')
/** Calibrations of this model on a CPU and on an NVIDIA GPU, measured by `prove-lab calibrate`. */
const calibrations = ['calibration-f16.json', 'calibration-f16-cuda.json'].map((name) =>
  join(root, 'models', 'demo', name),
)
const DEFAULTS = { seed: 0, versions: 22, nodes: 3, tasks: 300, samples: 2 }
/** Reward presets to train with. The evaluation reports the rewards of all presets. */
const REWARDS = ['paper', 'outcome']
/** Engines of the evaluation: one per core, each with 32 rollouts at a time. */
const EVALUATORS = Math.min(availableParallelism(), 4)
const bin = (name) => join(root, 'dist', name, 'main.js')
/** The environments whose vocabulary the demo model has learned. */
const ENVIRONMENTS = ['banking', 'calendar', 'email', 'issue_tracker']

function readOptions() {
  const names = [...Object.keys(DEFAULTS), 'reward']
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const { values } = parseArgs({ options: { ...options, gpu: { type: 'boolean', default: false } } })
  const numbers = Object.entries(DEFAULTS).map(([name, standard]) => {
    const value = values[name] === undefined ? standard : Number(values[name])
    if (!Number.isInteger(value) || value < (name === 'seed' ? 0 : 1))
      throw new Error(`--${name} must be a positive integer`)
    return [name, value]
  })
  const { reward = REWARDS[0] } = values
  if (!REWARDS.includes(reward)) throw new Error(`--reward must be one of ${REWARDS.join(', ')}`)
  return { ...Object.fromEntries(numbers), reward, gpu: values.gpu }
}

/** Returns the demo's run.yaml: with small batches of groups a version takes well under a minute on two cores. */
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

const TRAINING_TASKS = 1500

const taskFlags = ({ seed, tasks }) => {
  const examples = TRAINING_TASKS + tasks
  return [
    ...['--profile', 'demo', '--environments', ENVIRONMENTS.join(','), '--seed', `${seed}`],
    ...['--examples', `${examples}`, '--validation', '0', '--held-out', `${tasks / examples}`],
  ]
}

/** Removes the data of runs that have ended. A run that continues has its process id in the file `pid`. */
async function removeOldRuns(folder) {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(await readFile(join(folder, name, 'pid'), 'utf8').catch(() => '0'))
    if (!isAlive(pid)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  if (!pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Returns the state that the terminal shows, which is computed from the processes' progress lines, and its renderer. */
function createView(nodes) {
  const view = {
    version: null,
    accepted: 0,
    refused: 0,
    rewards: [],
    step: 0,
    tokens: 0,
    nodes: new Map(),
    started: performance.now(),
  }
  const render = () => {
    const seconds = (performance.now() - view.started) / 1000
    const recent = view.rewards.slice(-96)
    const mean = recent.length === 0 ? '  –  ' : (recent.reduce((a, b) => a + b, 0) / recent.length).toFixed(3)
    const versions = [...view.nodes.values()].map((version) => `v${version}`).join(' ')
    return [
      `round ${view.version ?? '–'}`,
      `groups ${view.accepted} accepted ${view.refused} refused`,
      `reward ${mean}`,
      `${Math.round(view.tokens / seconds)} tokens/s`,
      `trainer step ${view.step}`,
      `nodes ${versions || `0 of ${nodes}`}`,
      `${Math.round(seconds)} s`,
    ].join('  │  ')
  }
  return { view, render }
}

async function main() {
  const options = readOptions()
  const setupSeconds = await setupOrExit()
  if (!existsSync(model)) throw new Error(`the demo model is missing: ${model}; restore it with git checkout models`)
  // Node 20 lacks Promise.withResolvers.
  await import('../dist/swarm/polyfill.js')
  const { execa } = await import('execa')
  const { createLogUpdate } = await import('log-update')
  const started = performance.now()
  const folder = join(demo, 'runs', `${Date.now()}-${process.pid}`)
  await removeOldRuns(join(demo, 'runs'))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'pid'), String(process.pid))
  await writeFile(join(folder, 'run.yaml'), JSON.stringify(runConfig(options), null, 2))

  const { stopSignal } = await import('../dist/common/cli/index.js')
  const stop = new AbortController()
  const interruption = stopSignal(new Error('stopped'))
  interruption.signal.addEventListener('abort', () => stop.abort(interruption.signal.reason))
  const children = []
  /** Starts a program and passes its JSON progress lines to `onLine`. The returned promise rejects when the program fails. */
  const start = (name, args, onLine) => {
    const child = execa(process.execPath, args, {
      cwd: folder,
      stdin: 'ignore',
      stderr: { file: join(folder, `${name}.log`) },
      buffer: false,
      forceKillAfterDelay: 15_000,
    })
    createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line)))
    const ended = child.catch((error) => {
      if (!stop.signal.aborted)
        throw new Error(`${name} failed: ${error.shortMessage}; see ${join(folder, `${name}.log`)}`)
    })
    ended.catch(() => stop.abort())
    children.push({ child, ended })
    return ended
  }

  const screen = process.stdout.isTTY ? createLogUpdate(process.stdout) : null
  const { view, render } = createView(options.nodes)
  const say = (text) => {
    screen?.clear()
    console.log(text)
  }
  const ticker = setInterval(() => (screen ? screen(render()) : undefined), 250)

  try {
    console.log(`Demo run in ${folder}: 1 coordinator, ${options.nodes} volunteers, ${options.versions} versions`)
    console.log(`Making ${TRAINING_TASKS} training and ${options.tasks} held-out tasks …`)
    await execa(process.execPath, [bin('lab'), 'synthesize', ...taskFlags(options), '--out', 'tasks'], {
      cwd: folder,
      cancelSignal: stop.signal,
      stderr: { file: join(folder, 'synthesize.log') },
    })
    const address = Promise.withResolvers()
    const complete = Promise.withResolvers()
    const coordinator = start(
      'coordinator',
      // The evaluation of the base model replaces a dry run.
      [bin('coordinator'), 'start', '--config', 'run.yaml', '--json', '--no-dry-run'],
      (progress) => {
        if (progress.type === 'listening') address.resolve(progress.addresses[0])
        if (progress.type === 'complete') complete.resolve()
        if (progress.type === 'refusal') view.refused += 1
        if (progress.type !== 'event') return
        const { event } = progress
        if (event.type === 'published') {
          view.version = event.version
          view.step = event.step
          say(`version ${String(event.version).padStart(3)} published  ${render()}`)
        }
        if (event.type === 'judged' && event.accepted) {
          view.accepted += 1
          view.rewards.push(...event.rewards)
        } else if (event.type === 'judged') {
          view.refused += 1
          say(`refused: ${event.code} ${event.detail}`)
        }
      },
    )
    const joinAddress = await Promise.race([address.promise, coordinator.then(() => undefined)])
    if (joinAddress === undefined) throw new Error('the coordinator ended before it was ready')
    for (let i = 1; i <= options.nodes; i++) {
      const name = `volunteer-${i}`
      const listen = ['--listen', '/ip4/127.0.0.1/tcp/0']
      const args = [
        bin('node'),
        'join',
        joinAddress,
        '--data-dir',
        name,
        '--model',
        model,
        ...(options.gpu ? [] : ['--cpu']),
        '--slots',
        '8',
        ...listen,
        // They end with the demo, so they need not leave the machine to other programs.
        ...['--stay', '--priority', 'normal'],
        '--json',
      ]
      void start(name, args, (progress) => {
        if (progress.type === 'policy') view.nodes.set(name, progress.version)
        if (progress.type === 'group') view.tokens += progress.tokens
      })
    }
    await Promise.race([complete.promise, ...children.map(({ ended }) => ended)])
    stop.signal.throwIfAborted()
    const trainedSeconds = (performance.now() - started) / 1000
    clearInterval(ticker)
    say(`\nTraining took ${trainedSeconds.toFixed(0)} s. Pulling the adapter from the running swarm …`)
    const adapter = join(folder, 'adapter')
    await execa(
      process.execPath,
      [bin('node'), 'adapters', 'pull', joinAddress, adapter, '--data-dir', join(folder, 'researcher')],
      {
        cancelSignal: stop.signal,
      },
    )
    await Promise.all(children.slice(1).map(({ child }) => child.kill('SIGTERM')))

    console.log(`Evaluating version 0 and version ${options.versions} on ${options.tasks} held-out tasks …`)
    const { stdout } = await execa(
      process.execPath,
      [
        ...[bin('lab'), 'eval', '--model', model, '--adapter', join(adapter, 'adapter.gguf')],
        ...['--tasks', `${options.tasks}`, '--dataset', join(folder, 'tasks'), '--seed', `${options.seed}`],
        ...['--samples', `${options.samples}`, '--workers', `${EVALUATORS}`, '--json'],
      ],
      { cancelSignal: stop.signal, stderr: 'inherit' },
    )
    const [heldOut, likeliest] = ['sampled', 'greedy'].map((kind) => compared(JSON.parse(stdout), kind, options.reward))
    const runSeconds = (performance.now() - started) / 1000
    const summary = {
      heldOut: measured(heldOut),
      // The same tasks at temperature 0.
      likeliest: measured(likeliest),
      reward: options.reward,
      versions: options.versions,
      nodes: options.nodes,
      seed: options.seed,
      groups: { accepted: view.accepted, refused: view.refused },
      seconds: { setup: round(setupSeconds), run: round(runSeconds) },
    }
    await rm(join(demo, 'adapter'), { recursive: true, force: true })
    await cp(adapter, join(demo, 'adapter'), { recursive: true })
    await writeFile(join(demo, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
    report(summary, heldOut, likeliest)
  } finally {
    clearInterval(ticker)
    screen?.done()
    stop.abort()
    interruption.release()
    for (const { child } of children) child.kill('SIGTERM')
    await Promise.allSettled(children.map(({ ended }) => ended))
    await rm(join(folder, 'pid'), { force: true })
  }
}

const round = (seconds) => Math.round(seconds * 10) / 10

/** Returns the measures of the base and of the adapter at one kind of sampling. @param kind  `greedy` or `sampled` */
function compared({ policies: [base, trained] }, kind, reward) {
  const [before, after, diff] = [base.overall[kind], trained.overall[kind], trained.overall.difference[kind]]
  const of = (measure) => ({ before: before[measure], after: after[measure], diff: diff[measure] })
  return {
    n: base.overall.n,
    ...of(`reward.${reward}`),
    rewards: Object.fromEntries(REWARDS.map((name) => [name, of(`reward.${name}`)])),
    ...{ solvedBefore: before.solved, solvedAfter: after.solved, solvedDiff: diff.solved },
    ...{ callsBefore: before.calls.mean, callsAfter: after.calls.mean },
    callsReference: base.overall.callsReference,
  }
}

const measured = (evaluation) => ({
  n: evaluation.n,
  before: evaluation.before.mean,
  after: evaluation.after.mean,
  diff: evaluation.diff.mean,
  diffStderr: evaluation.diff.stderr,
  rewards: evaluation.rewards,
  solvedBefore: evaluation.solvedBefore.mean,
  solvedAfter: evaluation.solvedAfter.mean,
  solvedDiffStderr: evaluation.solvedDiff.stderr,
  callsBefore: evaluation.callsBefore,
  callsAfter: evaluation.callsAfter,
  callsReference: evaluation.callsReference,
})

function report({ groups, seconds, versions }, heldOut, likeliest) {
  const estimate = ({ mean, stderr }) => `${mean.toFixed(3)} ± ${stderr.toFixed(3)}`
  const share = ({ mean, stderr }) => `${(100 * mean).toFixed(1)} ± ${(100 * stderr).toFixed(1)} %`
  const row = (name, before, after, diff = '') => `  ${name.padEnd(18)}${before.padEnd(19)}${after.padEnd(19)}${diff}`
  const table = ({ rewards, solvedBefore, solvedAfter, solvedDiff, callsBefore, callsAfter }) =>
    [
      ...Object.entries(rewards).map(([name, { before, after, diff }]) =>
        row(`reward ${name}`, estimate(before), estimate(after), estimate(diff)),
      ),
      row('solved exactly', share(solvedBefore), share(solvedAfter), share(solvedDiff)),
      row('calls per task', callsBefore.toFixed(2), callsAfter.toFixed(2)),
    ].join('\n')
  console.log(`
${heldOut.n} held-out tasks (± standard error over tasks); the reference solution makes ${heldOut.callsReference.toFixed(2)} calls per task
${row('temperature 1', 'version 0', `version ${versions}`, 'paired difference')}
${table(heldOut)}
${row('temperature 0', 'version 0', `version ${versions}`, 'paired difference')}
${table(likeliest)}

groups: ${groups.accepted} accepted, ${groups.refused} refused · run: ${seconds.run} s after ${seconds.setup} s of set-up
adapter: .demo/adapter (PEFT directory and GGUF) · summary: .demo/summary.json`)
}

try {
  await main()
} catch (error) {
  console.error(`demo: ${error.message}`)
  process.exitCode = 1
}

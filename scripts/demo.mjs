// Runs the whole loop on one machine: a coordinator and volunteers as separate processes, which teach the base an environment that it
// hardly knows, and an evaluation on held-out tasks before and after training.
// Usage: npm run demo -- [--seed N] [--versions N] [--nodes N] [--tasks N] [--samples N] [--reward NAME] [--gpu] [--built] [--gate]
//   --tasks: held-out tasks of each evaluation; --samples: rollouts per task at temperature 1; --built: runs what is in dist/, without set-up;
//   --gate: ends with status 1 if the goal is missed
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { gateOf } from './demo/gate.mjs'
import { compared, reportOf, rewardsAndSolvedOf, solvedOf } from './demo/report.mjs'
import {
  datasets,
  EVALUATORS,
  KNOWN_ENVIRONMENTS,
  model,
  NEW_ENVIRONMENT,
  readOptions,
  root,
  runConfig,
} from './demo/settings.mjs'
import { createView } from './demo/view.mjs'
import { setupOrExit } from './setup.mjs'

const demo = join(root, '.demo')
const bin = (name) => join(root, 'dist', name, 'main.js')

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

async function main() {
  const options = readOptions()
  const setupSeconds = options.built ? 0 : await setupOrExit()
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
    console.log(`Making tasks: ${NEW_ENVIRONMENT} to learn, ${KNOWN_ENVIRONMENTS.join(', ')} to remember …`)
    for (const [name, flags] of Object.entries(datasets(options))) {
      await execa(process.execPath, [bin('lab'), 'synthesize', ...flags, '--out', name], {
        cwd: folder,
        cancelSignal: stop.signal,
        stderr: { file: join(folder, `synthesize-${name}.log`) },
      })
    }
    const tasksSeconds = secondsSince(started)
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
    const trainedSeconds = secondsSince(started)
    clearInterval(ticker)
    say(`\nTraining took ${(trainedSeconds - tasksSeconds).toFixed(0)} s. Pulling the adapter from the running swarm …`)
    const adapter = join(folder, 'adapter')
    await execa(
      process.execPath,
      [bin('node'), 'adapters', 'pull', joinAddress, adapter, '--data-dir', join(folder, 'researcher')],
      {
        cancelSignal: stop.signal,
      },
    )
    await Promise.all(children.slice(1).map(({ child }) => child.kill('SIGTERM')))

    console.log(`Evaluating version 0 and version ${options.versions} on held-out tasks …`)
    const adapterFile = join(adapter, 'adapter.gguf')
    const evaluate = async (dataset, samples) => {
      const { stdout } = await execa(
        process.execPath,
        [
          ...[bin('lab'), 'eval', '--model', model, '--adapter', adapterFile, '--dataset', join(folder, dataset)],
          ...['--tasks', `${options.tasks}`, '--samples', `${samples}`, '--seed', `${options.seed}`],
          ...['--workers', `${EVALUATORS}`, '--json'],
        ],
        { cancelSignal: stop.signal, stderr: 'inherit' },
      )
      return JSON.parse(stdout)
    }
    const onNew = await evaluate('tasks', options.samples)
    const onKnown = await evaluate('known-tasks', 0)
    const greedy = solvedOf(compared(onNew, 'greedy'))
    const greedyKnown = solvedOf(compared(onKnown, 'greedy'))
    const heldOut = rewardsAndSolvedOf(compared(onNew, 'sampled'), options.reward)
    const { taskThatChanged } = await import('./demo/one-task.mjs')
    const played = await taskThatChanged({
      ...{ model, adapter: adapterFile, dataset: join(folder, 'tasks') },
      ...{ reward: options.reward, limit: options.tasks, signal: stop.signal },
    })
    const runSeconds = secondsSince(started)
    const summary = {
      environments: { new: NEW_ENVIRONMENT, known: KNOWN_ENVIRONMENTS },
      // At temperature 0: on the new environment, and on those that the base knew.
      ...{ greedy, greedyKnown },
      // At temperature 1, on the new environment.
      heldOut,
      goalReached: gateOf(greedy, greedyKnown).every(({ met }) => met),
      reward: options.reward,
      versions: options.versions,
      nodes: options.nodes,
      seed: options.seed,
      groups: { accepted: view.accepted, refused: view.refused },
      seconds: {
        setup: round(setupSeconds),
        run: round(runSeconds),
        tasks: round(tasksSeconds),
        training: round(trainedSeconds - tasksSeconds),
        evaluation: round(runSeconds - trainedSeconds),
      },
    }
    await rm(join(demo, 'adapter'), { recursive: true, force: true })
    await cp(adapter, join(demo, 'adapter'), { recursive: true })
    await writeFile(join(demo, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
    console.log(`\n${reportOf(summary, { onNew, onKnown }, played)}`)
    if (options.gate && !summary.goalReached) process.exitCode = 1
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

const secondsSince = (started) => (performance.now() - started) / 1000

try {
  await main()
} catch (error) {
  console.error(`demo: ${error.message}`)
  process.exitCode = 1
}

// A run of the swarm on one machine: a coordinator and volunteers as separate processes in one folder.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { rederiveNewestStep } from './rederive.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = (name) => join(root, 'dist', name, 'main.js')

/**
 * Runs a coordinator and volunteers until the last version is published, and pulls its adapter from the running swarm.
 * @param folder     folder of the processes, with the coordinator's run.yaml
 * @param nodes      number of volunteers
 * @param nodeFlags  further options of each volunteer
 * @param model      base model of the volunteers
 * @param stop       AbortController that ends all processes; it is also aborted when one of them fails
 * @param view       shows their progress, see view.mjs
 * @returns  folder of the pulled adapter
 */
export async function runSwarm({ folder, nodes, nodeFlags, model, stop, view }) {
  const children = []
  /** Starts a program and passes its JSON progress lines to `onLine`. The returned promise rejects when the program fails. */
  const start = (name, args, onLine) => {
    const log = join(folder, `${name}.log`)
    const child = execa(process.execPath, args, {
      ...{ cwd: folder, stdin: 'ignore', stderr: { file: log }, buffer: false, forceKillAfterDelay: 15_000 },
    })
    createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line)))
    const ended = child.catch((error) => {
      if (!stop.signal.aborted) throw new Error(`${name} failed: ${error.shortMessage}; see ${log}`)
    })
    ended.catch(() => stop.abort())
    children.push({ child, ended })
    return ended
  }
  try {
    const address = Promise.withResolvers()
    const complete = Promise.withResolvers()
    const coordinator = start(
      'coordinator',
      // The evaluation of version 0 replaces a dry run.
      [bin('coordinator'), 'start', '--config', 'run.yaml', '--json', '--no-dry-run'],
      (progress) => {
        if (progress.type === 'listening') address.resolve(progress.addresses[0])
        if (progress.type === 'complete') complete.resolve()
        if (progress.type === 'refusal') view.groups.refused += 1
        if (progress.type === 'event') view.event(progress.event)
      },
    )
    const joinAddress = await Promise.race([address.promise, coordinator.then(() => undefined)])
    if (joinAddress === undefined) throw new Error('the coordinator ended before it was ready')
    for (let i = 1; i <= nodes; i++) {
      const name = `volunteer-${i}`
      const args = [
        ...[bin('node'), 'join', joinAddress, '--data-dir', name, '--model', model],
        // They end with the demo, so they need not leave the machine to other programs.
        ...['--listen', '/ip4/127.0.0.1/tcp/0', '--stay', '--priority', 'normal', '--json', ...nodeFlags],
      ]
      void start(name, args, (progress) => view.node(name, progress))
    }
    await Promise.race([complete.promise, ...children.map(({ ended }) => ended)])
    stop.signal.throwIfAborted()
    const adapter = join(folder, 'adapter')
    await execa(
      process.execPath,
      [bin('node'), 'adapters', 'pull', adapter, joinAddress, '--data-dir', join(folder, 'researcher')],
      { cancelSignal: stop.signal },
    )
    const gpu = !nodeFlags.includes('--cpu')
    await rederiveNewestStep({ address: joinAddress, folder, model, gpu, signal: stop.signal, say: view.say })
    return adapter
  } finally {
    for (const { child } of children) child.kill('SIGTERM')
    await Promise.allSettled(children.map(({ ended }) => ended))
  }
}

/** Runs a program of the checkout to its end. @returns its standard output */
export async function runProgram(name, args, { folder, signal, log }) {
  const { stdout } = await execa(process.execPath, [bin(name), ...args], {
    ...{ cwd: folder, cancelSignal: signal, stderr: log === undefined ? 'inherit' : { file: join(folder, log) } },
  })
  return stdout
}

/** Removes the data of runs that have ended. A run that continues has its process id in the file `pid`. */
export async function removeOldRuns(folder) {
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

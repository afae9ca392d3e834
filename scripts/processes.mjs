// Starts commands as process groups and ends every group together with the script that started it, however the script ends.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** Running children, each the leader of its process group. */
const running = new Set()
let reaper = null

/** Starts the process that kills the groups if this process cannot. */
function startReaper() {
  reaper = spawn(process.execPath, [`${root}scripts/reaper.mjs`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // A reaper that has ended must not end this process with EPIPE.
  reaper.stdin.on('error', () => undefined)
  reaper.unref()
  reaper.stdin.unref()
  for (const name of STOP_SIGNALS) process.on(name, () => onStopSignal(name))
}

function onStopSignal(name) {
  for (const { child, forwards } of running) {
    if (forwards) child.kill(name)
    else killGroup(child)
  }
  if (![...running].some(({ forwards }) => forwards)) process.exit(128 + constants.signals[name])
}

/** Kills a child and all its descendants. */
export function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group has ended by itself.
  }
}

/**
 * Starts a command in its own process group. When the command ends, what it has left running is killed. A stop signal to this process
 * kills the group and ends this process.
 * @param forwards  passes stop signals to the command instead, so that it can clean up
 */
export function startGroup(command, args, { forwards = false, ...options } = {}) {
  if (reaper === null) startReaper()
  const child = spawn(command, args, { cwd: root, ...options, detached: true })
  if (child.pid === undefined) return child
  const entry = { child, forwards }
  running.add(entry)
  reaper.stdin.write(`+${child.pid}\n`)
  child.once('exit', () => {
    killGroup(child)
    running.delete(entry)
    reaper.stdin.write(`-${child.pid}\n`)
  })
  return child
}

/** A shell's text that runs its arguments as a command and writes the CPU time of the command and its descendants to descriptor 3. */
const TIMED = '"$@" 3>&-; status=$?; times >&3; exit $status'

/** Seconds of CPU time from the second line that the shell's `times` prints, such as `1m2.5s 0m0.25s`. */
function cpuSeconds(text) {
  const times = text.split('\n')[1]?.matchAll(/(\d+)m([\d.]+)s/g) ?? []
  return [...times].reduce((total, [, minutes, seconds]) => total + 60 * Number(minutes) + Number(seconds), 0)
}

/**
 * Runs a command to its end.
 * @param limitMs  kills the command after this time, which counts as a failure
 * @param echo     shows the output at once as well
 * @returns `ok`, the exit status `code`, everything written to both streams, and the seconds of wall and CPU time
 */
export function runGroup(command, args, { env = {}, limitMs, echo = false } = {}) {
  return new Promise((resolve) => {
    const started = performance.now()
    const child = startGroup('sh', ['-c', TIMED, 'sh', command, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    let output = ''
    let times = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        if (echo) process.stdout.write(text)
      })
    child.stdio[3].setEncoding('utf8').on('data', (text) => {
      times += text
    })
    const timer = setTimeout(() => {
      output += `\nkilled after ${limitMs / 60_000} minutes\n`
      killGroup(child)
    }, limitMs)
    child.on('close', (code) => {
      clearTimeout(timer)
      const seconds = (performance.now() - started) / 1000
      resolve({ ok: code === 0, code, output, seconds, cpu: cpuSeconds(times) })
    })
  })
}

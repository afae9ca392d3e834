import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'uvu'
import { checkout } from './checkout.js'
import { PATIENCE_MS } from './patience.js'

/** The programs as child processes, followed through their JSON progress lines. */

export type Line = { readonly type: string } & Record<string, unknown>

export interface Program {
  readonly name: string
  readonly pid: number
  /** Every line so far, oldest first. */
  readonly lines: readonly Line[]
  /** Returns the first line from position `from` on that fits. @throws Error if the program ends first or the wait takes too long */
  until(what: string, fits: (line: Line) => boolean, from?: number): Promise<Line>
  kill(signal: NodeJS.Signals): void
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly stderr: string
}

export interface Machine {
  readonly folder: string
  /** Starts a program. @param through  a command that starts the program, such as a shell with other limits */
  start(
    program: 'coordinator' | 'lab' | 'node',
    args: readonly string[],
    name?: string,
    through?: readonly string[],
  ): Program
  /** Returns all living descendants of `start`, with their command lines. */
  processes(): { readonly pid: number; readonly command: string }[]
  close(): Promise<void>
}

/** Environment variable of every process that a test starts. All descendants inherit it, so the search finds orphans too. */
const MARK = 'PROVE_TEST_MACHINE'

export function demoModel(): string {
  const path = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')
  if (!existsSync(path)) throw new Error(`these tests need the demo model, and ${path} does not exist`)
  return path
}

export async function createMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-proc-'))
  const mark = randomUUID()
  const started: Program[] = []

  const processes = () =>
    readdirSync('/proc').flatMap((entry) => {
      const pid = Number(entry)
      if (!Number.isInteger(pid)) return []
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=${mark}`)) return []
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        // A zombie has no command line.
        return command === '' ? [] : [{ pid, command }]
      } catch {
        return []
      }
    })

  return {
    folder,
    processes,
    start(program, args, name = program, through = []) {
      const main = join(checkout, 'dist', program, 'main.js')
      const [command, ...rest] = [...through, process.execPath, main, ...args]
      const child = spawn(command!, rest, {
        cwd: folder,
        // uvu sets FORCE_COLOR, and Node.js warns about the contradiction on stderr.
        env: { ...process.env, [MARK]: mark, NO_COLOR: '1', FORCE_COLOR: undefined },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const followed = follow(name, child)
      started.push(followed)
      return followed
    },
    async close() {
      for (const { pid } of processes()) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // The process has ended in the meantime.
        }
      }
      await Promise.all(started.map(({ ended }) => ended))
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Returns a function that creates machines, which are closed after the current test. */
export function machinesOf(test: Test): () => Promise<Machine> {
  const machines: Machine[] = []
  test.after.each(async () => {
    for (const machine of machines.splice(0)) await machine.close()
  })
  return async () => {
    const machine = await createMachine()
    machines.push(machine)
    return machine
  }
}

/** Follows a process that writes JSON lines. */
export function follow(name: string, child: ChildProcess): Program {
  const lines: Line[] = []
  const watchers = new Set<() => void>()
  const notify = (): void => {
    for (const watcher of [...watchers]) watcher()
  }
  let stderr = ''
  let over = false
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  createInterface({ input: child.stdout! }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line)
    notify()
  })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => {
      over = true
      notify()
      resolve(code ?? signal)
    })
  })
  return {
    name,
    pid: child.pid!,
    lines,
    ended,
    get stderr() {
      return stderr
    },
    kill: (signal) => void child.kill(signal),
    until(what, fits, from = 0) {
      return new Promise((resolve, reject) => {
        let next = from
        const fail = (how: string): void => {
          stop()
          const last = lines.slice(-5).map((line) => JSON.stringify(line).slice(0, 300))
          reject(new Error(`${name} ${how}: ${what}\n${last.join('\n')}\n${stderr.slice(-2000)}`))
        }
        const timer = setTimeout(() => fail(`took more than ${PATIENCE_MS} ms`), PATIENCE_MS)
        const look = (): void => {
          for (; next < lines.length; next++) {
            if (!fits(lines[next]!)) continue
            stop()
            resolve(lines[next]!)
            return
          }
          if (over) fail('ended before')
        }
        const stop = (): void => {
          clearTimeout(timer)
          watchers.delete(look)
        }
        watchers.add(look)
        look()
      })
    },
  }
}

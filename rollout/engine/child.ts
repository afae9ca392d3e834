import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ConfinementLevel, confined, type Needs } from './confinement.js'
import { STDERR_TAIL_CHARS, STDERR_WAIT_MS, STOP_TIMEOUT_MS } from './constants.js'
import { crashReason } from './crash-reason.js'
import { EngineError } from './errors.js'
import { loaderArguments, makeHome, programFiles, scriptBeside } from './find-confinement.js'
import { guardMemory } from './memory-guard.js'
import type { Answer, FromWorker, ToWorker } from './protocol.js'
import { SINGLE_THREAD } from './thread-pool.js'
import type { AdapterFile } from './types.js'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never
/** A message with exactly one answer. `request` numbers it. */
export type ChildRequest = WithoutId<Extract<ToWorker, { readonly kind: 'start' | 'swap' | 'open' | 'score' }>>
export type SlotMessage = Extract<FromWorker, { readonly group: number }>

/** The parent's handle of the engine's process. */
export interface EngineChild {
  readonly pid: number | undefined
  /** Private directory of this process, removed with it. */
  readonly scratch: string
  /** Copies an adapter to where the process can read it, if needed. @returns  the adapter with its new path */
  provideAdapter(adapter: AdapterFile): Promise<AdapterFile>
  /** Set once the process has ended. */
  readonly death: EngineError | null
  /**
   * Sends a request. The answer settles when the process has finished the work, even after `cancel`.
   * @throws EngineError  with the code that the process reported, or `engine_crashed`
   */
  request(message: ChildRequest): { readonly answer: Promise<Answer>; cancel(): void }
  send(message: Extract<ToWorker, { readonly kind: 'next' | 'leave' }>): void
  /** Lets the process finish its decode, then ends it; resolves when it is gone. Idempotent. */
  stop(): Promise<void>
  kill(): void
}

export interface ChildEvents {
  onSlot(message: SlotMessage): void
  onDeath(error: EngineError): void
}

export interface ChildOptions {
  /** Bytes of resident memory beyond which the process is killed. */
  readonly memoryLimitBytes: number
  readonly confinement: ConfinementLevel
  /** The base model, as an absolute path. */
  readonly modelPath: string
  /** The only GPU that the process sees; undefined: all of them. */
  readonly gpuDevice: number | undefined
  /** Whether the library runs its calls one after the other in the process, see thread-pool.ts. */
  readonly inOrder: boolean
}

export function startChild(events: ChildEvents, options: ChildOptions): EngineChild {
  const { memoryLimitBytes, confinement, modelPath } = options
  const { home, scratch, root } = makeHome(confinement)
  const child = startWorker(confinement, { reads: [...programFiles(), modelPath], home, scratch, root }, options)
  const pending = new Map<number, { resolve(answer: Answer): void; reject(error: EngineError): void }>()
  let nextId = 0
  let death: EngineError | null = null
  let stderr = ''
  let exceeded = ''
  const unguard =
    child.pid === undefined
      ? () => undefined
      : guardMemory(child.pid, memoryLimitBytes, (bytes) => {
          exceeded = `it used ${mebibytes(bytes)} of memory, the limit is ${mebibytes(memoryLimitBytes)}: allow more with --memory`
          child.kill('SIGKILL')
        })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_CHARS)
  })

  const gone = new Promise<void>((resolve) => {
    const die = (how: string) => {
      if (death !== null) return
      unguard()
      const reason = crashReason(stderr)
      death = new EngineError('engine_crashed', exceeded || (reason ? `${how}: ${reason}` : how))
      rmSync(home, { recursive: true, force: true })
      for (const { reject } of pending.values()) reject(death)
      pending.clear()
      events.onDeath(death)
      resolve()
    }
    // Not `close`: after our `disconnect()` Node 20 does not emit it for a child with advanced serialisation.
    child.on('exit', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : endedBy(signal)
      // Its last output to stderr may still be in the pipe.
      if (child.stderr === null || child.stderr.readableEnded) return die(how)
      child.stderr.once('close', () => die(how))
      setTimeout(() => die(how), STDERR_WAIT_MS).unref()
    })
    child.on('error', (cause) => {
      if (child.pid === undefined) die(`could not be started: ${cause.message}`)
    })
  })

  child.on('message', (message) => {
    const received = message as FromWorker
    if ('group' in received) return events.onSlot(received)
    const waiting = pending.get(received.id)
    pending.delete(received.id)
    if (received.kind === 'failed') waiting?.reject(new EngineError(received.code, received.detail))
    else waiting?.resolve(received)
  })

  const post = (message: ToWorker) => {
    // A failed write means that the process is ending, which `exit` reports.
    if (child.connected) child.send(message, () => {})
  }

  return {
    pid: child.pid,
    scratch,
    get death() {
      return death
    },
    async provideAdapter(adapter) {
      if (confinement !== 'files') return adapter
      const path = join(scratch, `${adapter.sha256}.gguf`)
      await copyFile(adapter.path, path)
      return { ...adapter, path }
    },
    request: (message) => {
      const id = nextId++
      const answer = new Promise<Answer>((resolve, reject) => {
        if (death !== null) return reject(death)
        pending.set(id, { resolve, reject })
        post({ ...message, id })
      })
      return { answer, cancel: () => post({ kind: 'cancel', id }) }
    },
    send: post,
    stop: async () => {
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await gone
      clearTimeout(timer)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

function startWorker(
  level: ConfinementLevel,
  needs: Needs,
  { gpuDevice, inOrder }: Pick<ChildOptions, 'gpuDevice' | 'inOrder'>,
): ChildProcess {
  const node = { file: process.execPath, args: [...loaderArguments, scriptBeside('worker')] }
  const { file, args } = confined(level, node, needs)
  // By default CUDA orders devices by speed. PCI_BUS_ID is the order of the tools that list GPUs.
  const visible =
    gpuDevice === undefined
      ? {}
      : {
          CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
          CUDA_VISIBLE_DEVICES: `${gpuDevice}`,
          GGML_VK_VISIBLE_DEVICES: `${gpuDevice}`,
        }
  return spawn(file, args, {
    env: { ...process.env, ...visible, ...(inOrder ? SINGLE_THREAD : {}) },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

/** Describes the end of an engine by a signal. Systems and containers end a process that needs more memory than they have by SIGKILL. */
const endedBy = (signal: NodeJS.Signals): string =>
  signal === 'SIGKILL'
    ? 'ended by SIGKILL, usually for lack of memory: give it less with --memory, or end other programs'
    : `ended by ${signal}`

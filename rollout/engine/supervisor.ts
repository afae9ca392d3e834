import { resolve } from 'node:path'
import { backendName, interfaceOf, type PassedOver, type Placement } from './backend.js'
import { type ChildEvents, type ChildRequest, type EngineChild, startChild } from './child.js'
import { killUnlessSettled } from './child-watch.js'
import type { Confinement } from './confinement.js'
import { START_TIMEOUT_MS, TRIAL_TIMEOUT_MS, TRIAL_TOKENS } from './constants.js'
import { EngineError, toEngineError } from './errors.js'
import { abortable, createFairLock } from './fair-lock.js'
import { findConfinement } from './find-confinement.js'
import { defaultMemoryLimit } from './memory-guard.js'
import type { AdapterFile, Engine, EngineOptions } from './types.js'

/** Starts the engine's process on demand, with the same policy also after a crash. */
export interface Supervisor {
  readonly options: EngineOptions
  readonly confinement: Confinement
  /** Id of the current process; undefined while no process runs. */
  readonly pid: number | undefined
  /** Interfaces to GPUs that are not used, because the process ended there. */
  readonly passedOver: readonly PassedOver[]
  /** Null: no process was started yet. */
  readonly started: Started | null
  /** Null while no process runs. */
  readonly running: Running | null
  /** The adapter of the process, or of the next start; null: the bare base. */
  policy: AdapterFile | null
  /** Starts the process unless it runs. */
  start(signal: AbortSignal): Promise<EngineChild>
  /** Ends the process. The next start uses the same policy and options. */
  stop(): Promise<void>
  /** Restarts the process with other options. @throws EngineError if it cannot start; the new options stay set */
  restart(options: EngineOptions, signal: AbortSignal): Promise<void>
  /** Ends the process for good. */
  close(): Promise<void>
  /** Converts an error of a job. After `close`, an ended process is not reported as a crash. */
  explain(error: unknown): EngineError
}

export interface Running {
  readonly child: EngineChild
  /** SHA-256 of the adapters that the process has loaded, by path. */
  readonly loaded: Map<string, string>
}

export interface Started {
  readonly placement: Placement
  readonly build: Engine['build']
}

/** Settings of the process besides its options, see `EngineTuning`. */
export interface ProcessTuning {
  readonly slotWaitMs: number
  readonly sharePrefill: boolean
  readonly keepCaches: boolean
}

export interface SupervisorEvents extends ChildEvents {
  onPassedOver(passed: PassedOver): void
}

/** Creates a supervisor, without starting a process. */
export async function createSupervisor(
  opening: EngineOptions,
  tuning: ProcessTuning,
  { onPassedOver, ...events }: SupervisorEvents,
): Promise<Supervisor> {
  const modelPath = resolve(opening.modelPath)
  let options = opening
  let confinement = await findConfinement(options.gpu)
  let policy: AdapterFile | null = null
  let running: Running | null = null
  let started: Started | null = null
  /** Null: unknown with these resources. */
  let usesGpu: boolean | null = null
  let passedOver: readonly PassedOver[] = []
  let closing: Promise<void> | null = null
  const starts = createFairLock()

  const explain = (error: unknown): EngineError =>
    closing !== null ? new EngineError('closed', 'the engine was closed') : toEngineError(error)

  /** @throws UnfitDevice */
  const startOnce = async (signal: AbortSignal): Promise<EngineChild> => {
    if (closing !== null) throw new EngineError('closed', 'the engine was closed')
    const { memoryLimitBytes = defaultMemoryLimit(), gpuDevice } = options
    // On a GPU several threads read distributions at once, and a step would wait for these reads.
    const inOrder = options.threads === 1 && (options.gpu === false || usesGpu === false)
    const child = startChild(
      {
        onSlot: events.onSlot,
        onDeath: (error) => {
          if (running?.child !== child) return
          running = null
          events.onDeath(explain(error))
        },
      },
      { memoryLimitBytes, modelPath, gpuDevice, inOrder, confinement: confinement.level },
    )
    running = { child, loaded: new Map(policy === null ? [] : [[policy.path, policy.sha256]]) }
    try {
      const without = passedOver.map(({ by }) => by)
      started = await load(child, policy, { options: { ...options, modelPath }, without, ...tuning, inOrder }, signal)
      usesGpu = started.placement.layers > 0
      return child
    } catch (error) {
      await child.stop()
      throw error
    }
  }

  const startAlone = async (signal: AbortSignal): Promise<EngineChild> => {
    for (;;) {
      if (running !== null) return running.child
      try {
        return await startOnce(signal)
      } catch (error) {
        if (!(error instanceof UnfitDevice)) throw error
        passedOver = [...passedOver, error.passed]
        onPassedOver(error.passed)
      }
    }
  }

  const start = async (signal: AbortSignal): Promise<EngineChild> => {
    const leave = await starts.enter(signal)
    return await startAlone(signal).finally(leave)
  }

  const stop = async (): Promise<void> => {
    await running?.child.stop()
    running = null
  }

  return {
    ...{ explain, start, stop },
    get options() {
      return options
    },
    get confinement() {
      return confinement
    },
    get pid() {
      return running?.child.pid
    },
    get passedOver() {
      return passedOver
    },
    get started() {
      return started
    },
    get running() {
      return running
    },
    get policy() {
      return policy
    },
    set policy(next) {
      policy = next
    },
    async restart(next, signal) {
      await stop()
      if (next.gpu !== options.gpu || next.gpuDevice !== options.gpuDevice) passedOver = []
      options = next
      usesGpu = null
      confinement = await findConfinement(next.gpu)
      await start(signal)
    },
    close() {
      closing ??= (async () => {
        await running?.child.stop()
      })()
      return closing
    },
  }
}

type StartRequest = Omit<Extract<ChildRequest, { readonly kind: 'start' }>, 'kind' | 'adapter' | 'scratch'>

/** Loads the model in a new process, and computes some tokens. @throws UnfitDevice; EngineError */
async function load(
  child: EngineChild,
  policy: AdapterFile | null,
  request: StartRequest,
  signal: AbortSignal,
): Promise<Started> {
  const adapter = policy && (await child.provideAdapter(policy))
  const { answer } = child.request({ kind: 'start', ...request, adapter, scratch: child.scratch })
  killUnlessSettled(child, answer, START_TIMEOUT_MS)
  // Loading cannot be interrupted from within, so an abort ends the process.
  const { placement, version } = startedBy(await abortable(answer, signal, () => child.kill()))
  await tryDevice(child, placement, signal)
  return { placement, build: { nodeLlamaCpp: version, backend: backendName(placement) } }
}

/** The process ended when it first computed over this interface to a GPU. */
class UnfitDevice extends Error {
  constructor(readonly passed: PassedOver) {
    super(passed.why)
  }
}

/**
 * Computes some tokens on a device. If its driver is too old for llama.cpp's build, the process ends at the first tokens, although the
 * model was loaded.
 * @throws UnfitDevice
 */
async function tryDevice(
  child: EngineChild,
  { contextSize, ...placement }: Placement,
  signal: AbortSignal,
): Promise<void> {
  const by = interfaceOf(placement)
  if (by === null) return
  const tokens = new Int32Array(Math.min(TRIAL_TOKENS, contextSize))
  const { answer } = child.request({ kind: 'score', tokens, from: 1, draws: null })
  killUnlessSettled(child, answer, TRIAL_TIMEOUT_MS)
  try {
    await abortable(answer, signal, () => child.kill())
  } catch (error) {
    if (error instanceof EngineError && error.code === 'engine_crashed')
      throw new UnfitDevice({ by, why: error.detail })
    throw error
  }
}

function startedBy(answer: Awaited<ReturnType<EngineChild['request']>['answer']>) {
  if (answer.kind !== 'started')
    throw new EngineError('engine_failed', `the process answered a start request with ${answer.kind}`)
  return answer
}

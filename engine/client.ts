import { resolve } from 'node:path'
import { checkAdapterFile } from './adapter-check.js'
import { backendName, type Placement, USUAL_CACHE } from './backend.js'
import { type EngineChild, type LaneMessage, startChild } from './child.js'
import type { Confinement } from './confinement.js'
import {
  LANE_WAIT_MS,
  MAX_LANES,
  MAX_SEED,
  MAX_TEMPERATURE,
  RECYCLE_AFTER_SWAPS,
  SETTLE_TIMEOUT_MS,
  START_TIMEOUT_MS,
  SWAP_TIMEOUT_MS,
} from './constants.js'
import { EngineError, toEngineError } from './errors.js'
import { findConfinement } from './find-confinement.js'
import type { GgufHeader } from './gguf.js'
import { readModelFile } from './gguf-file.js'
import { hashFile } from './hash-file.js'
import { createLaneGroup, type LaneGroup } from './lane-group.js'
import { defaultMemoryLimit } from './memory-guard.js'
import { createOpenRollouts } from './open-rollouts.js'
import { abortable, createTurnstile } from './turnstile.js'
import type {
  AdapterFile,
  Draw,
  Engine,
  EngineOptions,
  EngineResources,
  LaneRequest,
  Token,
  TokenEvidence,
  TokenSource,
} from './types.js'

export interface EngineTuning {
  /** How long a pass waits for a lane between two turns. */
  readonly laneWaitMs?: number
  /** Whether lanes with equal prompts share one prefill; only a measurement needs `false`. */
  readonly sharePrefill?: boolean
  /**
   * Whether a group finds the caches that those before it left, and computes only what of its prompts is new. The last bits of
   * its log-probabilities then depend on these. Default: only groups do that are opened while others are made.
   */
  readonly keepCaches?: boolean
  /** Adapters one process may load before it is replaced. */
  readonly recycleAfterSwaps?: number
}

/** What a run asks of lanes. */
export type EngineLanes = Partial<Pick<EngineOptions, 'contextSize' | 'cacheType'>>

/** An engine in a child process of its own. */
export interface EngineProcess extends Engine {
  /** Of the current process; undefined while there is none. */
  readonly pid: number | undefined
  /** What keeps the process from doing harm. */
  readonly confinement: Confinement
  /** What of the machine it uses now. */
  readonly resources: EngineResources
  /** Tokens per lane. */
  readonly contextSize: number
  /** What was chosen of it. */
  readonly placement: Placement
  /** Resolves when fewer rollouts are open than decode together, so that more of them would cost no time. */
  room(signal: AbortSignal): Promise<void>
  /** Ends the process once the job under way is over, and with it what it holds of memory; the next call starts it again. */
  unload(signal: AbortSignal): Promise<void>
  /**
   * Starts the process anew with other resources, under the same policy, once the job under way is over.
   * @param lanes  tokens of each and the type of its cache from now on; default: as before
   * @throws EngineError what starting throws; the resources before it are in force again then
   */
  reconfigure(resources: EngineResources, signal: AbortSignal, lanes?: EngineLanes): Promise<void>
}

/**
 * Starts the engine's process and loads the base model. After a crash the next call starts a new process with the same
 * policy. Close it in the end: the process ends by itself only when this one does.
 * @throws EngineError `model_refused`, `engine_crashed`, `bad_request`
 */
export async function openEngine(opening: EngineOptions, tuning: EngineTuning = {}): Promise<EngineProcess> {
  let options = opening
  checkOptions(options)
  const base = readModelFile(options.modelPath)
  const { laneWaitMs = LANE_WAIT_MS, recycleAfterSwaps = RECYCLE_AFTER_SWAPS } = tuning
  const { sharePrefill = true, keepCaches = false } = tuning
  const turnstile = createTurnstile()
  let running: { readonly child: EngineChild; readonly loaded: Map<string, string> } | null = null
  let policy: AdapterFile | null = null
  const groups = new Map<number, LaneGroup>()
  let groupsOpened = 0
  const rollouts = createOpenRollouts()
  let closing: Promise<void> | null = null
  let build: Engine['build'] | null = null
  let placement: Placement | null = null
  /** Null: nobody has seen, with these resources. */
  let usesGpu: boolean | null = null

  const modelPath = resolve(options.modelPath)
  let confinement = await findConfinement(options.gpu)

  const starts = createTurnstile()
  const start = async (signal: AbortSignal): Promise<EngineChild> => {
    const leave = await starts.enter(signal)
    return await startAlone(signal).finally(leave)
  }

  const startAlone = async (signal: AbortSignal): Promise<EngineChild> => {
    if (closing !== null) throw new EngineError('closed', 'the engine was closed')
    if (running !== null) return running.child
    const events = {
      onLane: (message: LaneMessage) => groups.get(message.group)?.receive(message),
      onDeath: (error: EngineError) => {
        if (running?.child !== child) return
        running = null
        for (const group of groups.values()) group.fail(afterClose(error))
      },
    }
    const { memoryLimitBytes = defaultMemoryLimit(), gpuDevice } = options
    // Beside a GPU several threads look at distributions at once: there it is these looks that a step would wait for.
    const inOrder = options.threads === 1 && (options.gpu === false || usesGpu === false)
    const place = { memoryLimitBytes, modelPath, gpuDevice, inOrder, confinement: confinement.level }
    const child = startChild(events, place)
    running = { child, loaded: new Map(policy === null ? [] : [[policy.path, policy.sha256]]) }
    try {
      const { scratch } = child
      const adapter = policy && (await child.hand(policy))
      const at = { ...options, modelPath }
      const making = { laneWaitMs, sharePrefill, keepCaches, inOrder }
      const { answer } = child.request({ kind: 'start', options: at, adapter, ...making, scratch })
      killUnlessSettled(child, answer, START_TIMEOUT_MS)
      // Loading cannot be interrupted from within, so an abort ends the process.
      const started = await abortable(answer, signal, () => child.kill())
      if (started.kind === 'started') {
        placement = started.placement
        usesGpu = placement.layers > 0
        build = { nodeLlamaCpp: started.version, backend: backendName(placement) }
      }
      return child
    } catch (error) {
      await child.stop()
      throw error
    }
  }

  const stop = async (): Promise<void> => {
    await running?.child.stop()
    running = null
  }

  const afterClose = (error: unknown): EngineError => {
    if (closing !== null) return new EngineError('closed', 'the engine was closed')
    return toEngineError(error)
  }

  /**
   * Runs one job at a time, but for those that share the process. The next one waits also for what `job` gave to `hold`: an
   * abort returns before llama.cpp does.
   */
  const exclusively = async <T>(
    signal: AbortSignal,
    job: (hold: (work: Promise<unknown>) => void) => Promise<T>,
    mode: 'alone' | 'shared' = 'alone',
  ): Promise<T> => {
    const leave = await turnstile.enter(signal, mode)
    let held: Promise<unknown> = Promise.resolve()
    try {
      return await job((work) => {
        held = work
      })
    } catch (error) {
      signal.throwIfAborted()
      throw afterClose(error)
    } finally {
      held.then(leave, leave)
    }
  }

  const swap = async (adapter: AdapterFile | null, signal: AbortSignal, hold: (work: Promise<unknown>) => void) => {
    if (running !== null && adapter?.path === policy?.path && adapter?.sha256 === policy?.sha256) return
    if (adapter !== null) await checkFile(adapter, base, signal)
    const { child, loaded } = running ?? {}
    if (child === undefined || loaded === undefined || mustRecycle(loaded, adapter)) {
      await child?.stop()
      const previous = policy
      policy = adapter
      try {
        await start(signal)
      } catch (error) {
        policy = previous
        throw error
      }
      return
    }
    const { answer } = child.request({ kind: 'swap', adapter: adapter && (await child.hand(adapter)) })
    killUnlessSettled(child, answer, SWAP_TIMEOUT_MS)
    const swapped = answer.then(
      () => {
        policy = adapter
        if (adapter !== null) loaded.set(adapter.path, adapter.sha256)
      },
      (error: unknown) => {
        // A refused adapter leaves the previous one in force; anything else leaves the process without a context.
        if (!(error instanceof EngineError && error.code === 'adapter_refused')) child.kill()
        throw error
      },
    )
    hold(swapped)
    await abortable(swapped, signal)
  }

  /** llama.cpp keeps adapters by path until their model goes: another file under a known path would silently not be read. */
  const mustRecycle = (loaded: ReadonlyMap<string, string>, adapter: AdapterFile | null): boolean => {
    if (adapter === null) return false
    const known = loaded.get(adapter.path)
    return known === undefined ? loaded.size >= recycleAfterSwaps : known !== adapter.sha256
  }

  const score = async (
    tokens: readonly Token[],
    from: number,
    draws: readonly (Draw | null)[] | null,
    signal: AbortSignal,
  ) => {
    checkScore(tokens, from, options.contextSize)
    if (from === tokens.length) return []
    return await exclusively(signal, async (hold): Promise<TokenEvidence[]> => {
      const child = await start(signal)
      const { answer, cancel } = child.request({ kind: 'score', tokens: Int32Array.from(tokens), from, draws })
      hold(answer)
      const scored = await abortable(answer, signal, () => {
        cancel()
        killUnlessSettled(child, answer, SETTLE_TIMEOUT_MS)
      })
      if (scored.kind !== 'scored') throw new EngineError('engine_failed', `a score was answered by ${scored.kind}`)
      return [...scored.evidence]
    })
  }

  await start(new AbortController().signal)
  return {
    get build() {
      return build!
    },
    get confinement() {
      return confinement
    },
    get resources() {
      return resourcesOf(options)
    },
    get contextSize() {
      return options.contextSize
    },
    get placement() {
      return placement!
    },
    get pid() {
      return running?.child.pid
    },
    usePolicy: (adapter, signal) => exclusively(signal, (hold) => swap(adapter, signal, hold)),
    openLanes: async (requests, signal) => {
      checkLanes(requests, options)
      if (requests.length === 0) return []
      const open = async (hold: (work: Promise<unknown>) => void): Promise<TokenSource[]> => {
        const child = await start(signal)
        const number = groupsOpened++
        const lanes = requests.map(({ prompt, ...lane }) => ({ ...lane, prompt: Int32Array.from(prompt) }))
        const { answer } = child.request({ kind: 'open', group: number, lanes })
        const opened = answer.then(() => {
          const group = createLaneGroup(child, number, requests, options.contextSize, signal, opening.end)
          groups.set(number, group)
          void group.over.then(() => groups.delete(number))
          return group
        })
        hold(opened.then(({ over }) => over))
        const { sources } = await abortable(opened, signal, () => killUnlessSettled(child, answer, SETTLE_TIMEOUT_MS))
        return [...sources]
      }
      const opening = rollouts.add(requests.length)
      try {
        return await exclusively(signal, open, 'shared')
      } catch (error) {
        opening.endAll()
        throw error
      }
    },
    room: (signal) => rollouts.below(placement!.lanes, signal),
    score: async (tokens, from, signal) => (await score(tokens, from, null, signal)).map(({ logprob }) => logprob),
    evidence: (tokens, from, signal, draws = []) => score(tokens, from, draws, signal),
    unload: (signal) => exclusively(signal, async () => stop()),
    reconfigure: (resources, signal, lanes = {}) =>
      exclusively(signal, async () => {
        const before = options
        const { modelPath, contextSize, cacheType = USUAL_CACHE } = before
        const use = async (next: EngineOptions): Promise<void> => {
          await stop()
          options = next
          usesGpu = null
          confinement = await findConfinement(next.gpu)
          await start(signal)
        }
        const next = { modelPath, contextSize, cacheType, ...lanes, ...resources }
        checkOptions(next)
        try {
          await use(next)
        } catch (error) {
          await use(before)
          throw error
        }
      }),
    close: () => {
      closing ??= (async () => {
        await running?.child.stop()
      })()
      return closing
    },
  }
}

function resourcesOf(options: EngineOptions): EngineResources {
  const { modelPath: _model, contextSize: _context, cacheType: _cache, ...resources } = options
  return resources
}

function killUnlessSettled(child: EngineChild, work: Promise<unknown>, timeoutMs: number): void {
  const timer = setTimeout(() => child.kill(), timeoutMs)
  const settled = () => clearTimeout(timer)
  work.then(settled, settled)
}

/** A file which is not what its name says would train one policy and publish another; llama.cpp trusts what it opens. */
async function checkFile({ path, sha256, shape }: AdapterFile, base: GgufHeader, signal: AbortSignal): Promise<void> {
  const found = await hashFile(path, signal).catch((cause: unknown) => {
    throw new EngineError('adapter_refused', `${path}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  })
  if (found !== sha256) throw new EngineError('adapter_refused', `${path} has the SHA-256 ${found}, not ${sha256}`)
  await checkAdapterFile(path, base, shape, signal)
}

function checkOptions({ threads, contextSize, lanes }: EngineOptions): void {
  const wrong = Object.entries({ threads, contextSize, lanes }).find(([, n]) => !Number.isSafeInteger(n) || n < 1)
  if (wrong !== undefined) throw new EngineError('bad_request', `${wrong[0]} is ${wrong[1]}`)
  if (lanes > MAX_LANES) throw new EngineError('too_many_lanes', `${lanes} lanes, llama.cpp allows ${MAX_LANES}`)
}

function checkLanes(requests: readonly LaneRequest[], { contextSize }: EngineOptions): void {
  if (requests.length > MAX_LANES) {
    throw new EngineError('too_many_lanes', `${requests.length} rollouts at once, at most ${MAX_LANES} may be`)
  }
  for (const { prompt, seeds, temperature = 1 } of requests) {
    if (prompt.length === 0) throw new EngineError('bad_request', 'an empty prompt')
    if (prompt.length >= contextSize) {
      throw new EngineError('context_full', `a prompt of ${prompt.length} tokens leaves no room in ${contextSize}`)
    }
    if (!(temperature >= 0 && temperature <= MAX_TEMPERATURE))
      throw new EngineError('bad_request', `the temperature ${temperature} is not in 0 .. ${MAX_TEMPERATURE}`)
    const wrong = seeds.find((seed) => !Number.isSafeInteger(seed) || seed < 0 || seed > MAX_SEED)
    if (wrong !== undefined)
      throw new EngineError('bad_request', `the sampler seed ${wrong} is not in 0 .. ${MAX_SEED}`)
  }
}

function checkScore(tokens: readonly Token[], from: number, contextSize: number): void {
  if (!Number.isSafeInteger(from) || from < 1 || from > tokens.length) {
    throw new EngineError('bad_request', `scoring ${tokens.length} tokens from ${from}`)
  }
  if (tokens.length > contextSize) {
    throw new EngineError('context_full', `${tokens.length} tokens exceed ${contextSize}`)
  }
}

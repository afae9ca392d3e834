import { type PassedOver, type Placement, passedOverLine, USUAL_CACHE } from './backend.js'
import { killUnlessSettled } from './child-watch.js'
import type { Confinement } from './confinement.js'
import { RECYCLE_AFTER_SWAPS, SETTLE_TIMEOUT_MS, SLOT_WAIT_MS } from './constants.js'
import { EngineError } from './errors.js'
import { abortable } from './fair-lock.js'
import { readModelFile } from './gguf-file.js'
import { createJobs, type Hold } from './jobs.js'
import { createOpenRollouts } from './open-rollouts.js'
import { swapPolicy } from './policy-swap.js'
import { checkOptions, checkScore, checkSlots } from './request-checks.js'
import { createSlotGroups } from './slot-groups.js'
import { createSupervisor } from './supervisor.js'
import type { Draw, Engine, EngineOptions, EngineResources, Token, TokenScore } from './types.js'

export interface EngineTuning {
  /** Milliseconds that a pass waits for a slot between two turns. */
  readonly slotWaitMs?: number
  /** Whether slots with equal prompts share one prefill. Only measurements need `false`. */
  readonly sharePrefill?: boolean
  /**
   * Whether a group reuses the caches of earlier groups, and computes only the new part of its prompts. The last bits of its
   * log-probabilities then depend on those groups. Default: only groups that are opened while others are open.
   */
  readonly keepCaches?: boolean
  /** Called with an unusable GPU; default: emits a process warning. */
  readonly onPassedOver?: (passed: PassedOver) => void
  /** Adapters one process may load before it is replaced. */
  readonly recycleAfterSwaps?: number
}

/** Settings of the slots that a run decides. */
export type EngineSlots = Partial<Pick<EngineOptions, 'contextSize' | 'cacheType'>>

/** An engine in a child process. */
export interface EngineProcess extends Engine {
  /** Id of the current process; undefined while no process runs. */
  readonly pid: number | undefined
  /** The confinement of the process. */
  readonly confinement: Confinement
  /** The machine's resources that the engine may use now. */
  readonly resources: EngineResources
  /** Tokens per slot. */
  readonly contextSize: number
  /** The devices and settings chosen within the resources. */
  readonly placement: Placement
  /** Interfaces to GPUs on which the process ended. */
  readonly passedOver: readonly PassedOver[]
  /** Resolves when a slot is free, so that another rollout costs little time. */
  capacity(signal: AbortSignal): Promise<void>
  /** Ends the process after the current job, which frees its memory. The next call starts it again. */
  unload(signal: AbortSignal): Promise<void>
  /**
   * Restarts the process with other resources and the same policy, after the current job.
   * @param slots  context size and cache type of each slot; default: unchanged
   * @throws EngineError if the process cannot start; the previous resources then apply again
   */
  reconfigure(resources: EngineResources, signal: AbortSignal, slots?: EngineSlots): Promise<void>
}

/**
 * Starts the engine's process and loads the base model. After a crash, the next call starts a new process with the same
 * policy. The caller must close the engine: otherwise the process ends only together with its parent.
 * @throws EngineError `model_refused`, `engine_crashed`, `bad_request`
 */
export async function openEngine(options: EngineOptions, tuning: EngineTuning = {}): Promise<EngineProcess> {
  const { slotWaitMs = SLOT_WAIT_MS, recycleAfterSwaps = RECYCLE_AFTER_SWAPS } = tuning
  const { sharePrefill = true, keepCaches = false, onPassedOver = warnOf } = tuning
  checkOptions(options)
  const base = readModelFile(options.modelPath)
  const groups = createSlotGroups()
  const events = { onSlot: groups.receive, onDeath: groups.fail, onPassedOver }
  const supervisor = await createSupervisor(options, { slotWaitMs, sharePrefill, keepCaches }, events)
  const jobs = createJobs(supervisor.explain)
  const rollouts = createOpenRollouts()

  /** @param draws  null: only the log-probabilities are computed */
  const score = async (
    tokens: readonly Token[],
    from: number,
    draws: readonly (Draw | null)[] | null,
    signal: AbortSignal,
  ): Promise<TokenScore[]> => {
    checkScore(tokens, from, supervisor.options.contextSize)
    if (from === tokens.length) return []
    return await jobs.run(signal, async (hold) => {
      const child = await supervisor.start(signal)
      const { answer, cancel } = child.request({ kind: 'score', tokens: Int32Array.from(tokens), from, draws })
      hold(answer)
      const scored = await abortable(answer, signal, () => {
        cancel()
        killUnlessSettled(child, answer, SETTLE_TIMEOUT_MS)
      })
      if (scored.kind !== 'scored')
        throw new EngineError('engine_failed', `the process answered a score request with ${scored.kind}`)
      return [...scored.scores]
    })
  }

  await supervisor.start(new AbortController().signal)
  return {
    get build() {
      return supervisor.started!.build
    },
    get confinement() {
      return supervisor.confinement
    },
    get resources() {
      return resourcesOf(supervisor.options)
    },
    get contextSize() {
      return supervisor.options.contextSize
    },
    get placement() {
      return supervisor.started!.placement
    },
    get passedOver() {
      return supervisor.passedOver
    },
    get pid() {
      return supervisor.pid
    },
    usePolicy: (adapter, signal) =>
      jobs.run(signal, (hold) => swapPolicy({ supervisor, base, recycleAfterSwaps }, adapter, signal, hold)),
    async openSlots(requests, signal) {
      checkSlots(requests, supervisor.options)
      if (requests.length === 0) return []
      const opening = rollouts.add(requests.length)
      const open = async (hold: Hold) => {
        const child = await supervisor.start(signal)
        return await groups.open(child, requests, supervisor.options.contextSize, signal, opening.end, hold)
      }
      try {
        return await jobs.run(signal, open, 'shared')
      } catch (error) {
        opening.endAll()
        throw error
      }
    },
    capacity: (signal) => rollouts.below(supervisor.started!.placement.slots, signal),
    score: async (tokens, from, signal) => (await score(tokens, from, null, signal)).map(({ logprob }) => logprob),
    scoreTokens: (tokens, from, signal, draws = []) => score(tokens, from, draws, signal),
    unload: (signal) => jobs.run(signal, () => supervisor.stop()),
    reconfigure: (resources, signal, slots = {}) =>
      jobs.run(signal, async () => {
        const before = supervisor.options
        const { modelPath, contextSize, cacheType = USUAL_CACHE } = before
        const next = { modelPath, contextSize, cacheType, ...slots, ...resources }
        checkOptions(next)
        try {
          await supervisor.restart(next, signal)
        } catch (error) {
          await supervisor.restart(before, signal)
          throw error
        }
      }),
    close: () => supervisor.close(),
  }
}

const warnOf = (passed: PassedOver): void => process.emitWarning(passedOverLine(passed), 'GpuWarning')

function resourcesOf(options: EngineOptions): EngineResources {
  const { modelPath: _model, contextSize: _context, cacheType: _cache, ...resources } = options
  return resources
}

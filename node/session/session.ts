import { chmod, mkdir } from 'node:fs/promises'
import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { type CleanUp, createCleanUp } from '../../common/cleanup/index.js'
import { PRIVATE_FOLDER, serveControl } from '../../common/control/index.js'
import { createMetrics, systemClock } from '../../swarm/index.js'
import { resourcesOf } from '../limits/engine-resources.js'
import type { LimitChanges } from '../limits/limits-file.js'
import { changePriority, lowerPriority } from '../limits/priority.js'
import { describeLimits, type LimitName, type LimitSettings } from '../limits/settings.js'
import { sensorsHere } from '../machine/sensors.js'
import type { Whereabouts } from '../network/own-host.js'
import type { NodeProgress } from '../report/progress.js'
import { totalsOf } from '../store/ledger.js'
import { openNodeDatabase } from '../store/store.js'
import { type NodeOptions, type RunningNode, startNode } from '../volunteer/start-node.js'
import { createPauseControl, dutySignal } from '../work/pause-control.js'
import { createWorkMeter } from '../work/work-meter.js'
import type { WorkEnd } from '../work/work-state.js'
import { keepPause, readPause } from './kept-pause.js'
import { type LimitKeeper, openLimitKeeper } from './limit-keeper.js'
import { openOwnKey, recordsFolder } from './own-key.js'
import { createOwnerRequest } from './owner-request.js'
import { controlRoutes, type LimitsChanged, type NodeControls } from './routes.js'
import { openTrafficCounter, type TrafficCounter, trafficOf } from './traffic.js'
import { initialState, type NodeView, stateAfter } from './view.js'

export interface SessionOptions
  extends Pick<
    NodeOptions,
    'coordinator' | 'invitation' | 'dataDir' | 'modelPath' | 'packagedModel' | 'agree' | 'team' | 'signal'
  > {
  readonly whereabouts: Whereabouts
  /** Tokens of the longest rollout that the node accepts; null: as many as the run needs. */
  readonly mostTokens: number | null
  readonly stay: boolean
  /** Whether the node keeps and serves everything that the run publishes. */
  readonly mirrors: boolean
  /** Limits of the command line, which override those of the data folder. */
  readonly given: LimitSettings
  readonly logger: Logger
  readonly onProgress: (progress: NodeProgress) => void
  /** Receives, before the slow part of the start, a function that returns the current view. */
  readonly onView: (view: () => NodeView) => void
}

/** A running node of a volunteer, controlled by its owner. */
export interface Session {
  view(): NodeView
  /** Resolves with the reason for the end of the work. Rejects with the error that stopped it. */
  readonly work: Promise<WorkEnd>
  close(): Promise<void>
}

/** Interval of the checks of the limits, and of the traffic count. */
const LOOK_EVERY_MS = 1000

/**
 * Starts a node within the limits of its owner, who controls it from other terminals.
 * @throws NodeError `in_use`, `bad_limits` and those of the start; EngineError
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const cleanUp = createCleanUp()
  try {
    return await open(options, cleanUp)
  } catch (error) {
    await cleanUp.close()
    throw error
  }
}

async function open(options: SessionOptions, cleanUp: CleanUp): Promise<Session> {
  const { coordinator, dataDir, logger } = options
  const clock = systemClock
  await mkdir(dataDir, { recursive: true, mode: PRIVATE_FOLDER })
  if (process.platform !== 'win32') await chmod(dataDir, PRIVATE_FOLDER)
  const database = await openNodeDatabase(recordsFolder(dataDir))
  cleanUp.add(database.close)
  const identity = await openOwnKey(dataDir, async () => (await database.stores()).size > 0)
  const store = database.storeOf(coordinator.peerId)

  const missing = await store.missingVerdicts(true)
  let node: RunningNode | null = null
  let state = initialState(totalsOf(await store.verdicts()))
  const onProgress = (progress: NodeProgress): void => {
    state = stateAfter(state, progress)
    options.onProgress(progress)
  }
  if (missing > 0)
    onProgress({
      type: 'notice',
      text: `${missing} verdicts are missing from the records in ${dataDir}: the disk lost them. The coordinator has counted them, and sends the newest again`,
    })
  const metrics = createMetrics()
  const traffic = await openTrafficCounter(dataDir, { read: () => trafficOf(metrics), clock })
  cleanUp.add(traffic.close)
  const month = () => ({ bytes: traffic.month.sent + traffic.month.received, nextMs: traffic.nextMonthMs })
  const sensors = sensorsHere(dataDir, () => node?.engine.pid)
  const limits = await openLimitKeeper({ dataDir, given: options.given, sensors, clock, month })
  cleanUp.add(limits.close)
  lowerPriority(limits.settings)
  for (const text of limits.notKept()) onProgress({ type: 'notice', text })

  const pauseControl = createPauseControl()
  const request = createOwnerRequest(clock, await readPause(dataDir))
  const look = (): void => pauseControl.set(request.dutyUnder(limits.inForce))
  if (request.pausing !== null)
    onProgress({ type: 'notice', text: 'a pause from before this start is still on: prove-node resume ends it' })
  look()

  const startedAtMs = clock.now()
  const meter = createWorkMeter(clock)
  const view = (): NodeView => ({
    ...state,
    ...meter.reading,
    peerId: identity.peerId,
    coordinator: coordinator.addresses[0]!,
    startedAtMs,
    waiting: node?.waiting ?? 0,
    peers: node?.peers ?? 0,
    ...traffic.session,
    monthBytes: month().bytes,
    limits: describeLimits(limits.settings),
    notKept: limits.notKept(),
  })
  options.onView(view)

  const inTurn = pLimit(1)
  const controls: NodeControls = {
    view,
    async pause(forMs, atOnce) {
      request.pause(forMs, atOnce)
      look()
      await inTurn(() => keepPause(dataDir, request.pausing))
    },
    async resume() {
      request.resume()
      look()
      await inTurn(() => keepPause(dataDir, request.pausing))
    },
    finish() {
      request.finish()
      look()
    },
    get limits() {
      return limits.settings
    },
    setLimits: (changes) =>
      inTurn(async () => {
        const result = await changeLimits(changes, limits, node)
        look()
        if (pauseControl.duty.kind === 'rest' && state.phase === 'resting') await node?.engine.unload(never())
        return result
      }),
  }
  const control = await serveControl(dataDir, controlRoutes(controls, database)).catch((error: Error) => {
    // Some file systems have no sockets. The work does not depend on them.
    onProgress({ type: 'notice', text: `this node cannot be controlled from another terminal: ${error.message}` })
  })
  cleanUp.add(() => control?.close())
  cleanUp.add(lookRegularly(look, traffic, logger))

  const parts = { identity, store, metrics, meter, onProgress, pauseControl }
  node = await startUnlessFinished(options, limits, parts)
  if (node === null) return { view, work: Promise.resolve('finished'), close: cleanUp.close }
  cleanUp.add(node.close)
  return { view, work: node.work, close: cleanUp.close }
}

/** Returns a signal that never fires: a change that has begun is completed. */
const never = (): AbortSignal => new AbortController().signal

async function changeLimits(
  changes: LimitChanges,
  limits: LimitKeeper,
  node: RunningNode | null,
): Promise<LimitsChanged> {
  await limits.change(changes, async (before) => {
    const [old, resources] = [resourcesOf(before), resourcesOf(limits.settings)]
    if (JSON.stringify(old) !== JSON.stringify(resources)) await node?.engine.reconfigure(resources, never())
  })
  const names = Object.keys(changes) as LimitName[]
  const later = [names.includes('priority') ? changePriority(limits.settings) : null].filter((text) => text !== null)
  return { limits: limits.settings, notices: [...later, ...limits.notKept()] }
}

/** Applies the limits and counts the traffic at intervals. @returns a function that stops that */
function lookRegularly(look: () => void, traffic: TrafficCounter, logger: Logger): () => Promise<void> {
  const closing = new AbortController()
  const running = (async () => {
    while (!closing.signal.aborted) {
      await systemClock.sleep(LOOK_EVERY_MS, closing.signal).catch(() => undefined)
      await traffic.count().catch((error: unknown) => logger.warn({ error }, 'the traffic could not be counted'))
      look()
    }
  })()
  return () => {
    closing.abort(new Error('closed'))
    return running
  }
}

type StartParts = Pick<NodeOptions, 'identity' | 'store' | 'metrics' | 'meter' | 'onProgress' | 'pauseControl'>

/** Starts the node. @returns null if its owner ended it during the start */
async function startUnlessFinished(
  options: SessionOptions,
  limits: LimitKeeper,
  parts: StartParts,
): Promise<RunningNode | null> {
  const { coordinator, invitation, dataDir, modelPath, packagedModel, agree, mostTokens, stay, mirrors, team } = options
  const rate = (name: 'upload' | 'download') => () => (limits.settings[name] ?? Number.POSITIVE_INFINITY) * 1024
  const finishing = dutySignal(parts.pauseControl, ({ kind }) => kind === 'finish')
  try {
    return await startNode({
      ...{ coordinator, invitation, dataDir, modelPath, packagedModel, agree, mostTokens, stay, mirrors, team },
      ...parts,
      ...options.whereabouts,
      logger: options.logger,
      resources: resourcesOf(limits.settings),
      bandwidth: { upload: rate('upload'), download: rate('download') },
      signal: AbortSignal.any([options.signal, finishing.signal]),
    })
  } catch (error) {
    if (finishing.signal.aborted) return null
    throw error
  } finally {
    finishing.close()
  }
}

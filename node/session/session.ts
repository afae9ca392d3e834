import { chmod, mkdir } from 'node:fs/promises'
import { constants, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { PRIVATE_FOLDER, serveControl } from '../../common/control/index.js'
import { createMetrics, openIdentity, systemClock } from '../../swarm/index.js'
import { resourcesOf } from '../limits/engine-resources.js'
import { changed, type LimitChanges, readLimits, writeLimits } from '../limits/limits-file.js'
import { limitsInForce, notKept, sensorsFor } from '../limits/limits-in-force.js'
import { DEFAULTS, describeLimits, type LimitName, type LimitSettings } from '../limits/settings.js'
import { watchMachine } from '../machine/machine-watch.js'
import { sensorsHere } from '../machine/sensors.js'
import type { NodeProgress } from '../report/progress.js'
import { totalsOf } from '../store/ledger.js'
import { openNodeDatabase } from '../store/store.js'
import { type NodeOptions, type RunningNode, startNode, type Whereabouts } from '../volunteer/start-node.js'
import { createPauseControl, dutySignal } from '../work/pause-control.js'
import { createWorkMeter } from '../work/work-meter.js'
import type { WorkEnd } from '../work/work-state.js'
import { keepPause, readPause } from './kept-pause.js'
import { createOwnerRequest } from './owner-request.js'
import { type LimitsChanged, type Steering, steeringRoutes } from './routes.js'
import { openTrafficBook, trafficOf } from './traffic.js'
import { beginStory, continueStory, type NodeView } from './view.js'

export interface SessionOptions
  extends Pick<
    NodeOptions,
    'coordinator' | 'invitation' | 'dataDir' | 'modelPath' | 'packagedModel' | 'agree' | 'team' | 'signal'
  > {
  readonly whereabouts: Whereabouts
  /** Tokens of the longest rollout that it takes part with; null: whatever the run needs. */
  readonly mostTokens: number | null
  readonly stay: boolean
  /** Keeps and serves everything that the run publishes. */
  readonly mirrors: boolean
  /** Limits of the command line: they count before those of the data folder. */
  readonly given: LimitSettings
  readonly logger: Logger
  readonly onProgress: (progress: NodeProgress) => void
  /** Given, before the start that takes long, what shows the node at any moment. */
  readonly onView: (view: () => NodeView) => void
}

/** A volunteer's node with all that its owner steers it by. */
export interface Session {
  view(): NodeView
  /** Why the work ended. Rejects with what stopped it. */
  readonly work: Promise<WorkEnd>
  close(): Promise<void>
}

/** How often limits are looked at, and traffic is counted. */
const LOOK_EVERY_MS = 1000

/**
 * Starts a node within the limits of its owner, who steers it from other terminals.
 * @throws NodeError `in_use`, `bad_limits` and those of the start; EngineError
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { coordinator, invitation, dataDir, modelPath, packagedModel, agree, logger } = options
  const clock = systemClock
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    await mkdir(dataDir, { recursive: true, mode: PRIVATE_FOLDER })
    if (process.platform !== 'win32') await chmod(dataDir, PRIVATE_FOLDER)
    let kept = await readLimits(dataDir)
    let given = options.given
    const limits = (): LimitSettings => changed(changed(DEFAULTS, kept), given)
    const database = await openNodeDatabase(join(dataDir, 'store'))
    cleanUps.push(() => database.close())
    const identity = await openIdentity(dataDir)
    const store = database.storeOf(coordinator.peerId)

    let node: RunningNode | null = null
    let story = beginStory(totalsOf(await store.verdicts()))
    const onProgress = (progress: NodeProgress): void => {
      story = continueStory(story, progress)
      options.onProgress(progress)
    }
    // Before the engine starts: its process, and its threads, take over what this one has.
    if (getPriority() < priorityOf(limits())) setPriority(priorityOf(limits()))

    const metrics = createMetrics()
    const book = await openTrafficBook(dataDir, { read: () => trafficOf(metrics), clock })
    cleanUps.push(() => book.close())
    const watch = watchMachine(
      sensorsHere(dataDir, () => node?.engine.pid),
      { clock, wants: () => sensorsFor(limits()) },
    )
    cleanUps.push(() => watch.close())
    const month = (): { bytes: number; nextMs: number } => ({
      bytes: book.month.sent + book.month.received,
      nextMs: book.nextMonthMs,
    })
    const inForce = () => limitsInForce(limits(), { now: clock.now, stated: watch.told, month })
    let limit = inForce()
    const gate = createPauseControl()
    const wish = createOwnerRequest(clock, await readPause(dataDir))
    const look = (): void => gate.set(wish.dutyUnder(limit))
    const tellNotKept = (): void => {
      for (const text of notKept(limits(), watch.told)) onProgress({ type: 'notice', text })
    }
    await watch.ask()
    tellNotKept()
    if (wish.pausing !== null)
      onProgress({ type: 'notice', text: 'a pause from before this start lasts: prove-node resume ends it' })
    look()

    const startedAtMs = clock.now()
    const meter = createWorkMeter(clock)
    const view = (): NodeView => ({
      ...story,
      ...meter.reading,
      peerId: identity.peerId,
      coordinator: coordinator.addresses[0]!,
      startedAtMs,
      waiting: node?.waiting ?? 0,
      peers: node?.peers ?? 0,
      ...book.session,
      monthBytes: month().bytes,
      limits: describeLimits(limits()),
      notKept: notKept(limits(), watch.told),
    })

    options.onView(view)

    const inTurn = pLimit(1)
    const setLimits = async (changes: LimitChanges): Promise<LimitsChanged> => {
      const before = { kept, given, limits: limits() }
      kept = changed(kept, changes)
      // What is set while it runs counts from now on, whatever it was started with.
      const names = Object.keys(changes) as LimitName[]
      given = changed(given, Object.fromEntries(names.map((name) => [name, null])) as LimitChanges)
      try {
        if (needsEngine(before.limits, limits()))
          await node?.engine.reconfigure(resourcesOf(limits()), new AbortController().signal)
        await writeLimits(dataDir, kept)
      } catch (error) {
        ;({ kept, given } = before)
        throw error
      }
      const later = [names.includes('priority') ? whyNotPriority(limits()) : null].filter((text) => text !== null)
      limit = inForce()
      await watch.ask()
      look()
      if (gate.duty.kind === 'rest' && story.phase === 'resting')
        await node?.engine.unload(new AbortController().signal)
      return {
        limits: limits(),
        notices: [...later, ...notKept(limits(), watch.told)],
      }
    }
    const steering: Steering = {
      view,
      async pause(forMs, atOnce) {
        wish.pause(forMs, atOnce)
        look()
        await inTurn(() => keepPause(dataDir, wish.pausing))
      },
      async resume() {
        wish.resume()
        look()
        await inTurn(() => keepPause(dataDir, wish.pausing))
      },
      finish() {
        wish.finish()
        look()
      },
      get limits() {
        return limits()
      },
      setLimits: (changes) => inTurn(() => setLimits(changes)),
    }
    const control = await serveControl(dataDir, steeringRoutes(steering, database)).catch((error: Error) => {
      // Some file systems have no sockets. The work does not depend on them.
      onProgress({ type: 'notice', text: `this node cannot be steered from another terminal: ${error.message}` })
    })
    cleanUps.push(async () => control?.close())

    const looking = new AbortController()
    const looked = (async () => {
      while (!looking.signal.aborted) {
        await clock.sleep(LOOK_EVERY_MS, looking.signal).catch(() => undefined)
        await book.count().catch((error: unknown) => logger.warn({ error }, 'the traffic could not be counted'))
        look()
      }
    })()
    cleanUps.push(async () => {
      looking.abort(new Error('closed'))
      await looked
    })

    const finishing = dutySignal(gate, ({ kind }) => kind === 'finish')
    const starting = AbortSignal.any([options.signal, finishing.signal])
    const rate = (name: 'upload' | 'download') => () => (limits()[name] ?? Number.POSITIVE_INFINITY) * 1024
    const started = await startNode({
      ...{ coordinator, invitation, dataDir, modelPath, packagedModel, agree, identity, store },
      ...{ pauseControl: gate, logger, metrics, meter, onProgress, signal: starting },
      ...options.whereabouts,
      mostTokens: options.mostTokens,
      stay: options.stay,
      mirrors: options.mirrors,
      team: options.team,
      resources: resourcesOf(limits()),
      bandwidth: { upload: rate('upload'), download: rate('download') },
    }).catch((error: unknown) => {
      if (finishing.signal.aborted) return null
      throw error
    })
    finishing.close()
    if (started === null) return { view, work: Promise.resolve('finished'), close }
    node = started
    cleanUps.push(started.close)
    return { view, work: started.work, close }
  } catch (error) {
    await close()
    throw error
  }
}

const needsEngine = (before: LimitSettings, after: LimitSettings): boolean =>
  JSON.stringify(resourcesOf(before)) !== JSON.stringify(resourcesOf(after))

const { PRIORITY_NORMAL, PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
const PRIORITIES = { normal: PRIORITY_NORMAL, low: PRIORITY_BELOW_NORMAL, lowest: PRIORITY_LOW }

const priorityOf = ({ priority = DEFAULTS.priority }: LimitSettings): number => PRIORITIES[priority]

/** Takes a priority. @returns  why that takes effect later, if it does */
function whyNotPriority(limits: LimitSettings): string | null {
  try {
    setPriority(priorityOf(limits))
    return null
  } catch {
    return 'priority: the system lets no running program have more of it; it takes effect at the next start'
  }
}

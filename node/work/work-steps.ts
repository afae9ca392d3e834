import { REFUSALS } from '../../proto/index.js'
import { untilConnected } from '../network/until-connected.js'
import { forTerminal } from '../report/progress.js'
import { askForLease, reportIdle } from './ask-for-lease.js'
import { waitForDuty } from './pause-control.js'
import { waitForRetry, waitForWork } from './wait-for-work.js'
import { updatePolicy, type Worker } from './work-parts.js'
import type { Situation, WorkEvent, WorkState } from './work-state.js'

/** Pause between two looks at the groups without a verdict. */
const LOOK_MS = 1000
/** How long a node that ends waits for the verdicts on its last groups: an audit takes minutes. */
const DELIVERY_MS = 120_000
/** How long a machine that is too slow for a run rests before it tries again: another program may have slowed it down. */
const TOO_SLOW_REST_MS = 6 * 3_600_000

type StateNamed<N extends WorkState['name']> = Extract<WorkState, { name: N }>

/** States in which the node does something. */
export type ActiveState = Exclude<WorkState, StateNamed<'ended' | 'failed'>>

/** States that a rest, or the end of the work, interrupts. */
export const INTERRUPTIBLE: ReadonlySet<WorkState['name']> = new Set<WorkState['name']>([
  'connecting',
  'asking',
  'waiting',
  'measuring',
  'too-slow',
  'retrying',
])

/**
 * Does what a node does in a state.
 * @param signal  fires when the state is to be left
 * @throws the signal's reason; what an attempt of the state throws
 */
export function act(
  state: ActiveState,
  { failures }: Situation,
  worker: Worker,
  signal: AbortSignal,
): Promise<WorkEvent> {
  switch (state.name) {
    case 'connecting':
      return connect(worker, signal)
    case 'asking':
      return askForLease(state, worker, signal)
    case 'waiting':
      return wait(state, worker, signal)
    case 'measuring':
      return measure(state, worker, signal)
    case 'draining':
      return drain(worker)
    case 'paused':
      return pause(worker, signal)
    case 'too-slow':
      return restAsTooSlow(state, worker, signal)
    case 'retrying':
      return pauseBeforeRetry(state, failures, worker, signal)
    case 'delivering':
      return deliver(worker, signal)
  }
}

async function connect(worker: Worker, signal: AbortSignal): Promise<WorkEvent> {
  await untilConnected(worker, signal)
  const before = worker.keeper.loaded
  const policy = await updatePolicy(worker, signal)
  return { type: 'loaded', policy, isNew: policy !== before }
}

async function wait(
  { policy, answer, timesIdle, groupEnded }: StateNamed<'waiting'>,
  worker: Worker,
  signal: AbortSignal,
): Promise<WorkEvent> {
  const idleness = {
    answer,
    under: policy.manifest,
    times: timesIdle,
    onSettled: () => reportIdle(answer, worker),
  }
  const parts = { clock: worker.host.clock, random: worker.random }
  try {
    const isNewer = await waitForWork(parts, idleness, worker.watch, AbortSignal.any([signal, groupEnded]))
    return { type: 'woken', isNewer }
  } catch (error) {
    signal.throwIfAborted()
    if (!groupEnded.aborted) throw error
    // The coordinator may have work again for a node that has one group less in progress.
    return { type: 'group-ended' }
  }
}

async function measure(
  { detail }: StateNamed<'measuring'>,
  { speed }: Worker,
  signal: AbortSignal,
): Promise<WorkEvent> {
  const isFaster = await speed.again(signal)
  const reason = detail === '' ? REFUSALS.too_slow.meaning : forTerminal(detail)
  return { type: 'measured', isFaster, why: `this machine is too slow for the run: ${reason}` }
}

const drain = async ({ groups }: Worker): Promise<WorkEvent> => ({ type: 'drained', ...(await groups.drain()) })

async function pause({ pauseControl, host, onProgress, onRest }: Worker, signal: AbortSignal): Promise<WorkEvent> {
  const duty = await waitForDuty(pauseControl, host.clock, {
    onRest: async ({ why, untilMs }) => {
      onProgress({ type: 'rest', why, untilMs })
      await onRest()
    },
    signal,
  })
  if (duty === 'finish') return { type: 'finish' }
  onProgress({ type: 'resumed' })
  return { type: 'rested' }
}

async function restAsTooSlow(
  { why }: StateNamed<'too-slow'>,
  { host: { clock }, speed, onProgress, onRest }: Worker,
  signal: AbortSignal,
): Promise<WorkEvent> {
  onProgress({ type: 'rest', why, untilMs: clock.now() + TOO_SLOW_REST_MS })
  await onRest()
  await clock.sleep(TOO_SLOW_REST_MS, signal)
  speed.forget()
  onProgress({ type: 'resumed' })
  return { type: 'rested' }
}

async function pauseBeforeRetry(
  { trouble }: StateNamed<'retrying'>,
  failures: number,
  { host: { clock }, keeper, random, watch, onProgress }: Worker,
  signal: AbortSignal,
): Promise<WorkEvent> {
  if (trouble !== null) onProgress({ type: 'trouble', detail: trouble })
  watch.forget()
  const loaded = keeper.loaded?.manifestId ?? null
  await waitForRetry({ clock, random }, { loaded, failures }, watch, signal)
  return { type: 'rested' }
}

/** Waits for some time until every group has its verdict. The next start sends those that have none. */
async function deliver({ outbox, host, onProgress }: Worker, signal: AbortSignal): Promise<WorkEvent> {
  let reported = -1
  for (let leftMs = DELIVERY_MS; outbox.waiting.length > 0 && leftMs > 0; leftMs -= LOOK_MS) {
    const waiting = outbox.waiting.length
    if (waiting !== reported) onProgress({ type: 'finishing', waiting })
    reported = waiting
    await host.clock.sleep(LOOK_MS, signal)
  }
  return { type: 'delivered' }
}

import { dutySignal, isOffDuty } from './pause-control.js'
import { reportLeave } from './report-leave.js'
import { createWorker, type Worker, type WorkLoopParts } from './work-parts.js'
import { next, type Situation, START, type WorkEnd, type WorkEvent } from './work-state.js'
import { type ActiveState, act, INTERRUPTIBLE } from './work-steps.js'

/**
 * Works until the signal fires, the owner ends the node, or the run is complete. The states are in `work-state.ts`.
 * @throws NodeError `wrong_base`, `incompatible`, `other_version`, `canary_failed`, `bad_lease`, `broken_environment`, `unwritable`; EngineError
 */
export async function workLoop(parts: WorkLoopParts, signal: AbortSignal): Promise<WorkEnd> {
  const { stay = true, host } = parts
  const logger = host.logger.child({ part: 'work' })
  const worker = createWorker(parts, signal)
  try {
    let situation = START
    for (;;) {
      const { state } = situation
      if (state.name === 'ended') return state.end
      let event: WorkEvent
      if (signal.aborted && state.name !== 'draining') event = { type: 'closed' }
      else if (state.name === 'failed') {
        await reportLeave(state.error, worker)
        throw state.error
      } else event = await eventIn(state, situation, worker)
      if (event.type === 'failed' && !signal.aborted)
        logger.info({ error: event.error, state: state.name }, 'an attempt failed')
      situation = next(situation, event, stay)
    }
  } finally {
    worker.watch.close()
  }
}

/** Acts in a state until the action ends, a rest begins, a group fails, or the work is closed. */
async function eventIn(state: ActiveState, situation: Situation, worker: Worker): Promise<WorkEvent> {
  const { closing, groups, pauseControl } = worker
  if (!INTERRUPTIBLE.has(state.name)) return act(state, situation, worker, closing).catch(failure)
  const offDuty = dutySignal(pauseControl, isOffDuty)
  const { stopped } = groups
  try {
    if (offDuty.signal.aborted) return { type: 'off-duty' }
    return await act(state, situation, worker, AbortSignal.any([closing, offDuty.signal, stopped]))
  } catch (error) {
    if (offDuty.signal.aborted && error === offDuty.signal.reason) return { type: 'off-duty' }
    if (stopped.aborted && error === stopped.reason) return { type: 'groups-stopped' }
    return failure(error)
  } finally {
    offDuty.close()
  }
}

const failure = (error: unknown): WorkEvent => ({ type: 'failed', error })

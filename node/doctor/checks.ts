import { TransportError } from '../../swarm/index.js'
import { checkBase, checkEngine, checkSpeed } from './engine-checks.js'
import type { Examination } from './examination.js'
import { type Finding, problem, unknown } from './finding.js'
import { checkDisk, checkFirewall, checkMemory, checkPort, checkRouter } from './machine-checks.js'
import { checkClock, checkRun } from './run-checks.js'

export interface Check {
  readonly name: string
  /** What is waited for at most (ms). */
  readonly limitMs: number
  look(examination: Examination, signal: AbortSignal): Promise<Finding>
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/** Every check, in the order in which they are made: what costs least first. */
export const CHECKS: readonly Check[] = [
  // Dialling all addresses of an invitation, one after the other.
  { name: 'run', limitMs: MINUTE, look: checkRun },
  { name: 'clock', limitMs: 20 * SECOND, look: checkClock },
  { name: 'port', limitMs: 10 * SECOND, look: checkPort },
  { name: 'router', limitMs: MINUTE, look: checkRouter },
  { name: 'firewall', limitMs: 20 * SECOND, look: checkFirewall },
  // A base model that is here is hashed.
  { name: 'disk', limitMs: 5 * MINUTE, look: checkDisk },
  { name: 'memory', limitMs: 20 * SECOND, look: checkMemory },
  { name: 'engine', limitMs: 2 * MINUTE, look: checkEngine },
  { name: 'base model', limitMs: 10 * MINUTE, look: checkBase },
  { name: 'speed', limitMs: 10 * MINUTE, look: checkSpeed },
]

/**
 * Makes a check within its time.
 * @throws the signal's reason
 */
export async function make(check: Check, examination: Examination, signal: AbortSignal): Promise<Finding> {
  const limit = new AbortController()
  // `AbortSignal.timeout` would let the process end while nothing else is under way.
  const timer = setTimeout(() => limit.abort(new Error('out of time')), check.limitMs)
  const both = AbortSignal.any([signal, limit.signal])
  // What several checks share may go on for another, and not all of it hears a signal.
  const ended = new Promise<never>((_, reject) =>
    both.addEventListener('abort', () => reject(both.reason), { once: true }),
  )
  ended.catch(() => undefined)
  try {
    return await Promise.race([check.look(examination, both), ended])
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted)
      return problem(`it took longer than ${check.limitMs / SECOND} s`, 'look again when the machine is less busy')
    // That is said once, by the check of the run.
    if (error instanceof TransportError) return unknown('the run could not be asked')
    return problem((error as Error).message, 'see the other checks; if they are all well, report this')
  } finally {
    clearTimeout(timer)
  }
}

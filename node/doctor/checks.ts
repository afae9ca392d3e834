import { TransportError } from '../../swarm/index.js'
import { checkBase, checkEngine, checkSpeed } from './engine-checks.js'
import type { Examination } from './examination.js'
import { type Finding, problem, unknown } from './finding.js'
import { checkDisk, checkFirewall, checkMemory, checkPort, checkRouter } from './machine-checks.js'
import { checkClock, checkRun } from './run-checks.js'

/** A check of the examination. */
export interface Check {
  readonly name: string
  /** Time limit (ms). */
  readonly limitMs: number
  look(examination: Examination, signal: AbortSignal): Promise<Finding>
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/** All checks in their order, the cheapest first. */
export const CHECKS: readonly Check[] = [
  // Dials all addresses of an invitation, one after the other.
  { name: 'run', limitMs: MINUTE, look: checkRun },
  { name: 'clock', limitMs: 20 * SECOND, look: checkClock },
  { name: 'port', limitMs: 10 * SECOND, look: checkPort },
  { name: 'router', limitMs: MINUTE, look: checkRouter },
  { name: 'firewall', limitMs: 20 * SECOND, look: checkFirewall },
  // Hashes a base model on this machine.
  { name: 'disk', limitMs: 5 * MINUTE, look: checkDisk },
  { name: 'memory', limitMs: 20 * SECOND, look: checkMemory },
  { name: 'engine', limitMs: 2 * MINUTE, look: checkEngine },
  { name: 'base model', limitMs: 10 * MINUTE, look: checkBase },
  { name: 'speed', limitMs: 10 * MINUTE, look: checkSpeed },
]

/**
 * Runs a check within its time limit.
 * @throws the signal's reason
 */
export async function make(check: Check, examination: Examination, signal: AbortSignal): Promise<Finding> {
  const limit = new AbortController()
  // `AbortSignal.timeout` does not keep the process alive.
  const timer = setTimeout(() => limit.abort(new Error('out of time')), check.limitMs)
  const both = AbortSignal.any([signal, limit.signal])
  // A step that several checks share may continue for another check, and not every step obeys a signal.
  const ended = new Promise<never>((_, reject) =>
    both.addEventListener('abort', () => reject(both.reason), { once: true }),
  )
  ended.catch(() => undefined)
  try {
    return await Promise.race([check.look(examination, both), ended])
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted)
      return problem(`it took longer than ${check.limitMs / SECOND} s`, 'try again when the machine is less busy')
    // The check of the run reports this error.
    if (error instanceof TransportError) return unknown('the coordinator did not answer')
    return problem((error as Error).message, 'see the other checks; if they all pass, report this')
  } finally {
    clearTimeout(timer)
  }
}

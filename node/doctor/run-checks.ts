import prettyMilliseconds from 'pretty-ms'
import { TransportError } from '../../swarm/index.js'
import type { Examination } from './examination.js'
import { type Finding, ok, problem, unknown, warning } from './finding.js'

const NO_RUN = 'no run is named'
const NAME_ONE = 'prove-node doctor INVITATION'

export async function checkRun(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const { run } = examination
  if (run === null) return unknown(NO_RUN, NAME_ONE)
  try {
    const { host, coordinator } = await examination.reached(signal)
    const [connection] = host.connections(coordinator)
    const answers = `the coordinator answers at ${connection?.address ?? run.coordinator.addresses[0]}`
    const manifest = await examination.manifest(signal)
    return manifest === null
      ? warning(`${answers}, and has published no version yet`, 'there is no work before it does; look again later')
      : ok(`${answers}, and version ${manifest.version} is in force`)
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    if (error.code === 'other_version') return problem(error.detail, 'both must speak the same protocol')
    return problem(
      `the coordinator cannot be worked with: ${error.detail}`,
      'look whether this machine is online and lets programs out on that port; otherwise ask the operator whether the run is up',
    )
  }
}

/** Leases and announcements are dated: by more than that a node would take valid ones for expired. */
const NOTICED_MS = 5_000
const HARMFUL_MS = 60_000

export async function checkClock(examination: Examination, signal: AbortSignal): Promise<Finding> {
  if (examination.run === null) return unknown(`${NO_RUN}, so there is no clock to compare with`, NAME_ONE)
  const { ms, within } = await examination.clockOffset(signal)
  return clockFinding(ms, within)
}

/** @param ms  by which the other clock is ahead; @param within  how far that may be off */
export function clockFinding(ms: number, within: number): Finding {
  const off = Math.abs(ms)
  const text = prettyMilliseconds(off, { compact: off >= 1000 })
  const found = `this machine's clock is ${text} ${ms > 0 ? 'behind' : 'ahead of'} the coordinator's, give or take ${prettyMilliseconds(within)}`
  const advice = 'have it set by the network (NTP)'
  if (off - within > HARMFUL_MS) return problem(found, advice)
  return off - within > NOTICED_MS ? warning(found, advice) : ok(found)
}

import prettyMilliseconds from 'pretty-ms'
import { TransportError } from '../../swarm/index.js'
import type { Examination } from './examination.js'
import { type Finding, ok, problem, unknown, warning } from './finding.js'

const NO_RUN = 'no run is given'
const NAME_ONE = 'prove-node doctor INVITATION'

/** Checks the connection to the coordinator, and its version. */
export async function checkRun(examination: Examination, signal: AbortSignal): Promise<Finding> {
  const { run } = examination
  if (run === null) return unknown(NO_RUN, NAME_ONE)
  try {
    const { host, coordinator } = await examination.reached(signal)
    const [connection] = host.connections(coordinator)
    const answers = `the coordinator answers at ${connection?.address ?? run.coordinator.addresses[0]}`
    const manifest = await examination.manifest(signal)
    return manifest === null
      ? warning(
          `${answers}, but the run has published no version yet`,
          'try again later: there is no work before the first version',
        )
      : ok(`${answers}, and the current version is ${manifest.version}`)
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    if (error.code === 'other_version')
      return problem(error.detail, 'update the node or the coordinator: both need the same protocol version')
    return problem(
      `requests to the coordinator fail: ${error.detail}`,
      'check that this machine is online and allows outgoing connections to that port; otherwise ask the operator whether the run is online',
    )
  }
}

/** Clock difference from which a node may consider valid leases and announcements expired. */
const NOTICED_MS = 5_000
const HARMFUL_MS = 60_000

/** Compares the clock of this machine with the coordinator's. */
export async function checkClock(examination: Examination, signal: AbortSignal): Promise<Finding> {
  if (examination.run === null) return unknown(`${NO_RUN} to compare the clock with`, NAME_ONE)
  const { ms, within } = await examination.clockOffset(signal)
  return clockFinding(ms, within)
}

/** Grades a clock difference. @param ms  how far the other clock is ahead; @param within  error of `ms` */
export function clockFinding(ms: number, within: number): Finding {
  const off = Math.abs(ms)
  const text = prettyMilliseconds(off, { compact: off >= 1000 })
  const found = `this machine's clock is ${text} ${ms > 0 ? 'behind' : 'ahead of'} the coordinator's, give or take ${prettyMilliseconds(within)}`
  const advice = 'synchronise the clock over the network (NTP)'
  if (off - within > HARMFUL_MS) return problem(found, advice)
  return off - within > NOTICED_MS ? warning(found, advice) : ok(found)
}

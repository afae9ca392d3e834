import type { Auditor, AuditReport, AuditRequest } from '../../coordinator/intake/auditor.js'
import type { Lease } from '../../proto/index.js'
import { offerGroup } from '../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../support/audit-groups.js'
import { groundTruthScript } from '../support/scripted.js'
import { eventually, soon } from '../support/swarm-nodes.js'
import { TASKS, type TestRun, type Volunteer } from '../support/test-run.js'

/**
 * A group in which one rollout does what the user wants, and another says this. Scripted tokens are improbable, so groups
 * with other words must have nothing in common.
 */
export const scriptsFor = ({ taskId }: Lease, words: readonly string[]): (readonly string[])[] => [
  groundTruthScript(TASKS.find(({ id }) => id === taskId)!).map((message) =>
    message.includes('<tool_call>') ? `${words.join(' ')} ${message}` : message,
  ),
  words,
]

export interface Court extends Auditor {
  /** Leases in the order in which they were audited. */
  readonly audited: string[]
  /** More is asked of it than it can do. */
  isBehind: boolean
  /** What an audit finds; null: nothing. */
  find: (request: AuditRequest) => AuditReport | null | Promise<AuditReport>
}

export function court(): Court {
  const judge: Court = {
    audited: [],
    isBehind: false,
    find: () => null,
    async audit(request) {
      judge.audited.push(request.leaseId)
      return (await judge.find(request)) ?? { accepted: true, logitErrors: NO_LOGIT_ERRORS }
    },
    auditBatch: (_, requests) => Promise.all(requests.map((request) => judge.audit(request))),
  }
  return judge
}

export const MISMATCH: AuditReport = { accepted: false, code: 'sampler_mismatch', detail: '9 of 20 tokens' }

let groups = 0

/** What no other group says. */
export const ownWords = (): readonly string[] => [`Group ${groups++}.`, 'No.']

/** One group, from the lease to the verdict. @param words  what the second rollout says, so that groups differ */
export async function deliver(run: TestRun, node: Volunteer, words = ownWords()) {
  const { leases, reason } = await node.ask()
  const [lease] = leases
  if (!lease) throw new Error(`no lease: ${reason}`)
  const group = await node.finish(lease, { scripts: scriptsFor(lease, words) })
  await offerGroup(node.host, run.swarm.runId, group.sealed, soon())
  const { state } = run.coordinator.recorder
  await eventually('the verdict', () => state.judged.has(lease.leaseId))
  return { lease, group, verdict: state.judged.get(lease.leaseId)! }
}

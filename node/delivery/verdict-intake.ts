import { openVerdictDigest, refusal, type Verdict, type VerdictDigest } from '../../proto/index.js'
import { requestVerdicts, type SwarmHost } from '../../swarm/index.js'
import type { NodeStore } from '../store/store.js'

/** Digests from gossip that wait for the disk. The node asks the coordinator for any further ones. */
const MOST_PUSHED = 16
const PAGE = 64
/** Bound on the verdicts on groups of an earlier process, some 100 MB: enough for the whole life of a key. */
const EARLIER_VERDICTS = 250_000

export interface VerdictIntakeParts {
  readonly host: SwarmHost
  readonly coordinator: string
  readonly store: NodeStore
  /** Whether a group of this lease waits for its verdict. */
  readonly isWaiting: (leaseId: string) => boolean
  /** Called for each lease in a digest, after its verdicts are on disk. */
  readonly onSettled: (leaseId: string) => void
  /** @param earlier  the verdict on the same lease that an audit replaced */
  readonly onVerdict: (verdict: Verdict, earlier: Verdict | null) => void
  /** Bound on the verdicts on groups that this process did not send. */
  readonly earlierVerdicts?: number | undefined
}

/** Records the verdicts of a node in their order, from gossip and from the coordinator. */
export interface VerdictIntake {
  /** Whether the coordinator may have verdicts that gossip did not bring. */
  readonly isBehind: boolean
  /** Receives a digest from gossip. */
  push(digest: VerdictDigest): void
  /** Records the digests from gossip. */
  takePushed(): Promise<void>
  /** Asks the coordinator for the verdicts that are not on record. */
  fetch(signal: () => AbortSignal): Promise<void>
  /** Counts a group that this process sends: its verdict is expected. */
  expect(): void
}

export function createVerdictIntake(parts: VerdictIntakeParts): VerdictIntake {
  const { host, coordinator, store, isWaiting, onSettled, onVerdict, earlierVerdicts = EARLIER_VERDICTS } = parts
  const pushed: VerdictDigest[] = []
  let isBehind = false
  /** Recorded verdicts without a group, less one for each group: an audit may replace its verdict. */
  let unexpected = 0

  /** @returns the number of new verdicts in the digest */
  const take = async ({ peerId, fromCursor, verdicts }: VerdictDigest): Promise<number> => {
    if (peerId !== host.peerId) return 0
    // Each verdict is kept for good: a coordinator that invents verdicts must not fill the disk.
    const known = await store.verdictCount()
    const foreign = verdicts.slice(Math.max(0, known - fromCursor)).filter(({ leaseId }) => !isWaiting(leaseId)).length
    if (unexpected + foreign > earlierVerdicts)
      throw refusal('rate_limited', `more than ${earlierVerdicts} verdicts on groups that were not sent`)
    const before = new Map<string, Verdict | null>()
    for (const { leaseId } of verdicts) before.set(leaseId, await store.verdictOn(leaseId))
    const fresh = await store.addVerdicts(fromCursor, verdicts)
    unexpected += foreign
    for (const { leaseId } of verdicts) onSettled(leaseId)
    for (const verdict of fresh) {
      onVerdict(verdict, before.get(verdict.leaseId) ?? null)
      before.set(verdict.leaseId, verdict)
    }
    return fresh.length
  }

  return {
    get isBehind() {
      return isBehind
    },
    push(digest) {
      if (digest.peerId !== host.peerId) return
      if (pushed.length < MOST_PUSHED) pushed.push(digest)
      else isBehind = true
    },
    async takePushed() {
      for (let digest = pushed.shift(); digest; digest = pushed.shift()) {
        // A gap means that gossip lost a digest, which the coordinator may still have.
        if (digest.fromCursor > (await store.verdictCount())) isBehind = true
        else await take(digest)
      }
    },
    async fetch(signal) {
      for (let more = true; more; ) {
        const cursor = await store.verdictCount()
        const page = await requestVerdicts(host, coordinator, { cursor, max: PAGE }, signal())
        // Without the count, a coordinator that always promises more would keep the node asking without a pause.
        more = (await take(await openVerdictDigest(page.digest, host.runId))) > 0 && page.more
      }
      isBehind = false
    },
    expect() {
      unexpected -= 1
    },
  }
}

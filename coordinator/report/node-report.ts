import type { RefusalCode } from '../../proto/index.js'
import type { EventOf, RunEvent } from '../ledger/events.js'
import { RunReducer } from '../ledger/run-reducer.js'
import type { NodeVerdict, RunState } from '../ledger/run-state.js'

/** Work and reputation of a key. */
export interface NodeReport {
  readonly node: string
  /** Time of its first request. */
  readonly registeredAtMs: number
  /** Time of its last request for work, group, or returned lease. */
  readonly lastSeenAtMs: number
  /** Backend that it reported with its last lease; null: no lease yet. */
  readonly backend: string | null
  /** Program and version that it reported last; null: not reported. */
  readonly agent: string | null
  /** Its team; null: none. */
  readonly team: string | null
  /** Error with which it ended its work; null: none, or it has come back since. */
  readonly left: Pick<EventOf<'left'>, 'atMs' | 'version' | 'reason' | 'detail'> | null
  readonly openLeases: number
  readonly accepted: number
  /** Zero-variance groups among the accepted ones. */
  readonly zeroVariance: number
  /** Groups by the reason of their refusal, including later audits. */
  readonly refused: ReadonlyMap<RefusalCode, number>
  /** Number of leases that it abandoned. */
  readonly abandoned: number
  readonly credit: number
  readonly tokens: number
  /** Tokens of replayed groups per second between leases and verdicts; null: none yet. */
  readonly tokensPerSecond: number | null
  /** Tokens per second between grants and arrivals of recent groups, which determines its leases; null: unknown. */
  readonly deliveredTokensPerSecond: number | null
  /** Number of audits of its groups, and of failed ones. */
  readonly audits: { readonly all: number; readonly failed: number }
  readonly reputation: NodeReputation
}

/** Reputation of a key for operators. */
export type NodeReputation =
  | { readonly kind: 'new' | 'trusted' | 'held back' | 'doubted' | 'excluded' }
  | { readonly kind: 'quarantined'; readonly untilMs: number }
  /** Banned by the operator. */
  | { readonly kind: 'banned'; readonly reason: string | null }

interface Seen {
  readonly registeredAtMs: number
  lastSeenAtMs: number
  backend: string | null
  agent: string | null
  left: NodeReport['left']
  accepted: number
  zeroVariance: number
  tokens: number
  workMs: number
  readonly refused: Map<RefusalCode, number>
}

/** Collects the work of every key from the events of a run, oldest first. */
export class NodesTally {
  readonly #own: RunReducer | null
  readonly #state: RunState
  readonly #seen = new Map<string, Seen>()

  /** @param state  state to which the caller has applied each event before `add`; default: an own one */
  constructor(state?: RunState) {
    this.#own = state ? null : new RunReducer()
    this.#state = state ?? this.#own!
  }

  /** Returns the newest verdicts on a key's groups, oldest first. */
  verdictsOf(node: string): readonly NodeVerdict[] {
    return this.#state.nodes.get(node)?.verdicts ?? []
  }

  add(event: RunEvent): void {
    this.#own?.apply(event)
    const { atMs } = event
    switch (event.type) {
      case 'registered':
        this.#seen.set(event.node, {
          ...{ registeredAtMs: atMs, lastSeenAtMs: atMs, backend: null, agent: event.agent ?? null, left: null },
          ...{ accepted: 0, zeroVariance: 0, tokens: 0, workMs: 0, refused: new Map() },
        })
        return
      case 'leased':
        Object.assign(this.#touch(event.node, atMs), {
          ...{ backend: event.backend, agent: event.agent ?? null },
          left: null,
        })
        return
      case 'left': {
        const { version, reason, detail } = event
        this.#touch(event.node, atMs).left = { atMs, version, reason, detail }
        return
      }
      case 'judged': {
        const seen = this.#touch(event.node, atMs)
        if (event.code !== null) count(seen.refused, event.code)
        seen.accepted += Number(event.accepted)
        seen.zeroVariance += Number(event.accepted && event.zeroVariance)
        seen.tokens += event.sampledTokens
        const lease = this.#state.leases.get(event.leaseId)
        if (event.sampledTokens > 0 && lease) seen.workMs += Math.max(0, atMs - lease.atMs)
        return
      }
      case 'audited': {
        const seen = this.#seen.get(event.node)
        if (event.code === null || !seen) return
        count(seen.refused, event.code)
        seen.accepted -= 1
        seen.zeroVariance -= Number(this.#state.judged.get(event.leaseId)?.zeroVariance ?? false)
        return
      }
    }
  }

  /** Returns all keys, most credit first. */
  report(nowMs: number): NodeReport[] {
    return [...this.#seen]
      .map(([node, { refused, workMs, ...seen }]) => {
        const record = this.#state.nodes.get(node)
        return {
          node,
          ...seen,
          team: this.#state.teams.get(node) ?? null,
          tokensPerSecond: workMs === 0 ? null : (1000 * seen.tokens) / workMs,
          deliveredTokensPerSecond: record?.deliveryRate
            ? (1000 * record.deliveryRate.tokens) / Math.max(1, record.deliveryRate.ms)
            : null,
          refused: new Map(refused),
          openLeases: this.#state.openLeasesOf(node).size,
          abandoned: record?.abandoned ?? 0,
          credit: record?.credit ?? 0,
          audits: { all: record?.reputation.record.audits ?? 0, failed: record?.reputation.record.failures ?? 0 },
          reputation: this.#reputation(node, nowMs),
        }
      })
      .sort((a, b) => b.credit - a.credit || a.registeredAtMs - b.registeredAtMs)
  }

  #reputation(node: string, nowMs: number): NodeReputation {
    const reputation = this.#state.nodes.get(node)?.reputation
    const probation = this.#state.configuration?.audit.probation ?? 0
    const ban = this.#state.orders.banned.get(node)
    if (ban) return { kind: 'banned', reason: ban.reason }
    if (!reputation) return { kind: 'new' }
    if (reputation.isQuarantined(nowMs)) {
      const untilMs = reputation.quarantinedUntilMs
      return untilMs === null ? { kind: 'excluded' } : { kind: 'quarantined', untilMs }
    }
    if (reputation.isHeldBack) return { kind: 'held back' }
    if (reputation.doubt > 0) return { kind: 'doubted' }
    return { kind: reputation.streak < probation ? 'new' : 'trusted' }
  }

  #touch(node: string, atMs: number): Seen {
    const seen = this.#seen.get(node)
    if (!seen) throw new Error(`${node} has events but was not registered`)
    seen.lastSeenAtMs = atMs
    return seen
  }
}

const count = (counts: Map<RefusalCode, number>, code: RefusalCode): void => {
  counts.set(code, (counts.get(code) ?? 0) + 1)
}

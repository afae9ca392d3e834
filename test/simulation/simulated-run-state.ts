import type { Kind, Person } from './population.js'

/** What a node does with its time. `fetch`: it has nothing to work under until an adapter is there. */
export type Doing = 'fetch' | 'wait' | 'work'

/** What became of a group that was begun. */
export type Fate = 'begun' | 'delivered' | 'left'

export interface GroupBook {
  readonly node: string
  readonly kind: Kind
  readonly leaseId: string
  readonly startedMs: number
  spentMs: number
  fate: Fate
}

/** What is known of one node from the outside. */
export interface NodeBook {
  readonly person: Person
  readonly peerId: string
  readonly sinceMs: number
  untilMs: number | null
  firstLeaseMs: number | null
  doing: Doing
  doingSinceMs: number
  readonly spentMs: Record<Doing, number>
  version: number
}

/** What has come to the nodes that were there when it was published, by version, with the delays (ms) of those that it has come to. */
export type Reach = Map<number, { readonly atMs: number; readonly awaited: Set<NodeBook>; readonly delaysMs: number[] }>

/** The observer's books of a simulation: no node and no coordinator reads them. */
export interface SimulatedRunState {
  readonly nodes: NodeBook[]
  readonly groups: Map<string, GroupBook>
  /** Leases whose groups are not what they should be. */
  readonly poisoned: Map<string, Kind>
  /** By version: when its adapter was with the nodes that were online when it was published, and when they had begun to work under it. */
  readonly fetched: Reach
  readonly loaded: Reach
  enter(person: Person, peerId: string): NodeBook
  turn(node: NodeBook, doing: Doing): void
  leave(node: NodeBook): void
  published(version: number): void
  /** A node has the adapter of a version, or has taken the version up. */
  reached(what: 'fetched' | 'loaded', node: NodeBook, version: number): void
}

export function openRecords(now: () => number): SimulatedRunState {
  const nodes: NodeBook[] = []
  const reach = { fetched: new Map(), loaded: new Map() } satisfies Record<'fetched' | 'loaded', Reach>
  const settle = (node: NodeBook): void => {
    node.spentMs[node.doing] += now() - node.doingSinceMs
    node.doingSinceMs = now()
  }
  return {
    nodes,
    groups: new Map(),
    poisoned: new Map(),
    ...reach,
    enter(person, peerId) {
      const spentMs = { fetch: 0, wait: 0, work: 0 }
      const since = { sinceMs: now(), untilMs: null, doingSinceMs: now() }
      const node: NodeBook = { person, peerId, ...since, firstLeaseMs: null, doing: 'wait', spentMs, version: -1 }
      nodes.push(node)
      return node
    },
    turn(node, doing) {
      settle(node)
      node.doing = doing
    },
    leave(node) {
      settle(node)
      node.untilMs = now()
      for (const one of Object.values(reach)) for (const { awaited } of one.values()) awaited.delete(node)
    },
    published(version) {
      const there = nodes.filter((node) => node.untilMs === null && node.version >= 0)
      for (const one of Object.values(reach)) one.set(version, { atMs: now(), awaited: new Set(there), delaysMs: [] })
    },
    reached(what, node, version) {
      if (what === 'loaded') node.version = version
      for (const [published, { atMs, awaited, delaysMs }] of reach[what])
        if (published <= version && awaited.delete(node)) delaysMs.push(now() - atMs)
    },
  }
}

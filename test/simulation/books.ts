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

/** The observer's books of a simulation: no node and no coordinator reads them. */
export interface Books {
  readonly nodes: NodeBook[]
  readonly groups: Map<string, GroupBook>
  /** Leases whose groups are not what they should be. */
  readonly poisoned: Map<string, Kind>
  /** Delays until a version was loaded, by version (ms), and nodes that were online when it was published. */
  readonly reached: Map<number, { readonly atMs: number; readonly awaited: Set<NodeBook>; readonly delaysMs: number[] }>
  enter(person: Person, peerId: string): NodeBook
  turn(node: NodeBook, doing: Doing): void
  leave(node: NodeBook): void
  published(version: number): void
  loaded(node: NodeBook, version: number): void
}

export function openBooks(now: () => number): Books {
  const nodes: NodeBook[] = []
  const reached: Books['reached'] = new Map()
  const settle = (node: NodeBook): void => {
    node.spentMs[node.doing] += now() - node.doingSinceMs
    node.doingSinceMs = now()
  }
  return {
    nodes,
    groups: new Map(),
    poisoned: new Map(),
    reached,
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
      for (const { awaited } of reached.values()) awaited.delete(node)
    },
    published(version) {
      const awaited = new Set(nodes.filter((node) => node.untilMs === null && node.version >= 0))
      reached.set(version, { atMs: now(), awaited, delaysMs: [] })
    },
    loaded(node, version) {
      node.version = version
      for (const [published, { atMs, awaited, delaysMs }] of reached)
        if (published <= version && awaited.delete(node)) delaysMs.push(now() - atMs)
    },
  }
}

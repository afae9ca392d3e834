import type { EventOf, RunEvent } from './events.js'
import type { StateSnapshot } from './state-snapshot.js'

/** An order of the operator: who gave it, by which way, when and why. */
export interface Order {
  readonly atMs: number
  readonly by: EventOf<'paused'>['by']
  /** The operator's own words; null: no reason given. */
  readonly reason: string | null
}

/** Announcement for volunteers. The newest one replaces the previous one. */
export interface Announcement extends Order {
  readonly message: string
  /** Further addresses of the coordinator. */
  readonly addresses: readonly string[]
}

/** Order to restore the policy of an earlier version. */
export interface RollbackOrder extends Order {
  readonly version: number
}

/** Orders of the operator that are in force. */
export interface RunOrders {
  /** Null: the run is not paused. */
  readonly pause: Order | null
  /** By key. */
  readonly banned: ReadonlyMap<string, Order>
  /** By index in the data set. */
  readonly droppedTasks: ReadonlyMap<number, Order & { readonly taskId: string }>
  readonly disabledEnvironments: ReadonlyMap<string, Order>
  readonly announcement: Announcement | null
  /** Ordered but not carried out yet. */
  readonly rollback: RollbackOrder | null
}

export type OrderEvent = Extract<RunEvent, { readonly by: Order['by'] }>

/** Whether an event is an order of the operator. */
export const isOrder = (event: RunEvent): event is OrderEvent => 'by' in event

/** Reason of a release by the coordinator for which the node is not responsible. */
export const TAKEN_BACK_FROM_BANNED = 'banned'

type Snapshot = Pick<StateSnapshot, 'banned' | 'droppedTasks' | 'disabledEnvironments'> & OrdersInForce
/** Orders of which at most one is in force. */
type OrdersInForce = Pick<StateSnapshot['rest'][number], 'pause' | 'announcement' | 'rollback'>

/** Reducer of the operator's orders. */
export class Orders implements RunOrders {
  pause: Order | null = null
  readonly banned = new Map<string, Order>()
  readonly droppedTasks = new Map<number, Order & { readonly taskId: string }>()
  readonly disabledEnvironments = new Map<string, Order>()
  announcement: Announcement | null = null
  rollback: RollbackOrder | null = null

  get snapshot(): Snapshot {
    return {
      banned: [...this.banned],
      droppedTasks: [...this.droppedTasks],
      disabledEnvironments: [...this.disabledEnvironments],
      pause: this.pause,
      announcement: this.announcement,
      rollback: this.rollback,
    }
  }

  static of({ banned, droppedTasks, disabledEnvironments, pause, announcement, rollback }: Snapshot): Orders {
    const orders = new Orders()
    for (const [node, order] of banned) orders.banned.set(node, order)
    for (const [taskIndex, order] of droppedTasks) orders.droppedTasks.set(taskIndex, order)
    for (const [environment, order] of disabledEnvironments) orders.disabledEnvironments.set(environment, order)
    Object.assign(orders, { pause, announcement, rollback })
    return orders
  }

  apply(event: OrderEvent): void {
    const { atMs, by, reason } = event
    const order = { atMs, by, reason }
    switch (event.type) {
      case 'paused':
        this.pause = order
        return
      case 'resumed':
        this.pause = null
        return
      case 'banned':
        this.banned.set(event.node, order)
        return
      case 'unbanned':
        this.banned.delete(event.node)
        return
      case 'task-dropped':
        this.droppedTasks.set(event.taskIndex, { ...order, taskId: event.taskId })
        return
      case 'environment-disabled':
        this.disabledEnvironments.set(event.environment, order)
        return
      case 'environment-enabled':
        this.disabledEnvironments.delete(event.environment)
        return
      case 'rollback-ordered':
        this.rollback = { ...order, version: event.version }
        return
      case 'announced': {
        const { message, addresses } = event
        this.announcement = message === '' && addresses.length === 0 ? null : { ...order, message, addresses }
        return
      }
    }
  }

  /** Ends the rollback order: the policy was restored, or cannot be. */
  endRollback(): void {
    this.rollback = null
  }
}

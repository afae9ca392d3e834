import type { EventOf, RunEvent } from './events.js'
import type { StateSnapshot } from './state-snapshot.js'

/** Who wants something, by which way, since when, and why. */
export interface Order {
  readonly atMs: number
  readonly by: EventOf<'paused'>['by']
  /** In the operator's words; null: none were given. */
  readonly reason: string | null
}

/** What volunteers are told; the newest announcement replaces those before it. */
export interface Announcement extends Order {
  readonly message: string
  /** Where the coordinator is to be found besides where it listens. */
  readonly addresses: readonly string[]
}

/** The run shall have the policy of an earlier version again. */
export interface RollbackOrder extends Order {
  readonly version: number
}

/** What the operator wants of a run, as far as it holds. */
export interface RunOrders {
  /** Null: the run is not paused. */
  readonly pause: Order | null
  /** By key. */
  readonly banned: ReadonlyMap<string, Order>
  /** By index in the data set. */
  readonly droppedTasks: ReadonlyMap<number, Order & { readonly taskId: string }>
  readonly disabledEnvironments: ReadonlyMap<string, Order>
  readonly announcement: Announcement | null
  /** Given, and not carried out yet. */
  readonly rollback: RollbackOrder | null
}

export type OrderEvent = Extract<RunEvent, { readonly by: Order['by'] }>

export const isOrder = (event: RunEvent): event is OrderEvent => 'by' in event

/** Reasons for which the coordinator takes a lease back itself: nothing that its node could have done otherwise. */
export const TAKEN_BACK_FROM_BANNED = 'banned'

type Snapshot = Pick<StateSnapshot, 'banned' | 'droppedTasks' | 'disabledEnvironments'> & OrdersInForce
/** At most one of each. */
type OrdersInForce = Pick<StateSnapshot['rest'][number], 'pause' | 'announcement' | 'rollback'>

/** A fold over the operator's orders alone. */
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

  /** The policy in force is the one that was wanted, or it cannot be had. */
  endRollback(): void {
    this.rollback = null
  }
}

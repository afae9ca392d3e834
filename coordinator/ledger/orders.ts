import type { EventOf, RunEvent } from './events.js'
import type { FoldImage } from './state-snapshot.js'

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
  readonly restedWorlds: ReadonlyMap<string, Order>
  readonly announcement: Announcement | null
  /** Given, and not carried out yet. */
  readonly rollback: RollbackOrder | null
}

export type OrderEvent = Extract<RunEvent, { readonly by: Order['by'] }>

export const isOrder = (event: RunEvent): event is OrderEvent => 'by' in event

/** Reasons for which the coordinator takes a lease back itself: nothing that its node could have done otherwise. */
export const TAKEN_BACK_FROM_BANNED = 'banned'

type Image = Pick<FoldImage, 'banned' | 'droppedTasks' | 'restedWorlds'> & Standing
/** At most one of each. */
type Standing = Pick<FoldImage['rest'][number], 'pause' | 'announcement' | 'rollback'>

/** A fold over the operator's orders alone. */
export class Orders implements RunOrders {
  pause: Order | null = null
  readonly banned = new Map<string, Order>()
  readonly droppedTasks = new Map<number, Order & { readonly taskId: string }>()
  readonly restedWorlds = new Map<string, Order>()
  announcement: Announcement | null = null
  rollback: RollbackOrder | null = null

  get image(): Image {
    return {
      banned: [...this.banned],
      droppedTasks: [...this.droppedTasks],
      restedWorlds: [...this.restedWorlds],
      pause: this.pause,
      announcement: this.announcement,
      rollback: this.rollback,
    }
  }

  static of({ banned, droppedTasks, restedWorlds, pause, announcement, rollback }: Image): Orders {
    const orders = new Orders()
    for (const [node, order] of banned) orders.banned.set(node, order)
    for (const [taskIndex, order] of droppedTasks) orders.droppedTasks.set(taskIndex, order)
    for (const [server, order] of restedWorlds) orders.restedWorlds.set(server, order)
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
      case 'world-rested':
        this.restedWorlds.set(event.server, order)
        return
      case 'world-woken':
        this.restedWorlds.delete(event.server)
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

import type { Order, RunOrders } from '../ledger/orders.js'
import { timeOf } from './words.js'

const since = ({ atMs, by, reason }: Order): string =>
  `since ${timeOf(atMs)}, by the ${by.who}${reason === null ? '' : `: ${reason}`}`

/** Describes the orders in force, those that stop the whole run first. */
export function orderWords({
  pause,
  rollback,
  disabledEnvironments,
  droppedTasks,
  banned,
  announcement,
}: RunOrders): string[] {
  return [
    ...(pause ? [`paused ${since(pause)}`] : []),
    ...(rollback ? [`rolling back to version ${rollback.version}, ${since(rollback)}`] : []),
    ...[...disabledEnvironments].map(
      ([environment, order]) => `environment ${environment} is disabled ${since(order)}`,
    ),
    ...[...droppedTasks.values()].map((order) => `task ${order.taskId} is dropped ${since(order)}`),
    ...(banned.size === 0 ? [] : [`${banned.size === 1 ? '1 key is' : `${banned.size} keys are`} banned`]),
    ...(announcement ? [`announced ${timeOf(announcement.atMs)}: ${textOf(announcement)}`] : []),
  ]
}

const textOf = ({ message, addresses }: { readonly message: string; readonly addresses: readonly string[] }): string =>
  [message, ...addresses].filter((part) => part !== '').join(' ')

/** Returns the orders in force as JSON. */
export const ordersAsJson = ({
  pause,
  rollback,
  disabledEnvironments,
  droppedTasks,
  banned,
  announcement,
}: RunOrders) => ({
  ...{ pause, rollback, announcement },
  disabledEnvironments: Object.fromEntries(disabledEnvironments),
  droppedTasks: [...droppedTasks].map(([taskIndex, order]) => ({ taskIndex, ...order })),
  banned: Object.fromEntries(banned),
})

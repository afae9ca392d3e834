import type { Order, RunOrders } from '../ledger/orders.js'
import { timeOf } from './words.js'

const since = ({ atMs, by, reason }: Order): string =>
  `since ${timeOf(atMs)}, by the ${by.who}${reason === null ? '' : `: ${reason}`}`

/** The operator's orders that hold, in words, those that stop the whole run first. */
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
    ...(rollback ? [`going back to version ${rollback.version}, ${since(rollback)}`] : []),
    ...[...disabledEnvironments].map(([environment, order]) => `the world ${environment} is at rest ${since(order)}`),
    ...[...droppedTasks.values()].map((order) => `the task ${order.taskId} is dropped ${since(order)}`),
    ...(banned.size === 0 ? [] : [`${banned.size === 1 ? '1 key is' : `${banned.size} keys are`} banned`]),
    ...(announcement ? [`announced ${timeOf(announcement.atMs)}: ${saidIn(announcement)}`] : []),
  ]
}

const saidIn = ({ message, addresses }: { readonly message: string; readonly addresses: readonly string[] }): string =>
  [message, ...addresses].filter((said) => said !== '').join(' ')

/** The orders that hold, for programs. */
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

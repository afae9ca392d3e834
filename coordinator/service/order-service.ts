import { multiaddr } from '@multiformats/multiaddr'
import { z } from 'zod'
import { ControlRefusal } from '../../common/control/index.js'
import { detailForWire, LIMITS } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import { type Clock, withoutPeer } from '../../swarm/index.js'
import { damagedFiles, readStep } from '../jobs/step-folder.js'
import { isWithheld } from '../leases/withheld-tasks.js'
import type { EventOf } from '../ledger/events.js'
import type { Order, OrderEvent } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import type { Publication, RunState } from '../ledger/run-state.js'
import type { TaskSet } from '../settings/task-set.js'
import type { SettingsService } from './settings-service.js'

const name = z.string().min(1).max(LIMITS.nameBytes.value)
const reason = z.string().max(4096).nullable()
const order = <T extends string, S extends z.ZodRawShape>(kind: T, shape: S) =>
  z.strictObject({ order: z.literal(kind), reason, ...shape })

/** Orders that an operator may give to a running coordinator. */
export const orderSchema = z.discriminatedUnion('order', [
  order('pause', {}),
  order('resume', {}),
  /** `key`: the whole key, or an end of it that no other key of the run has. */
  order('ban', { key: name }),
  order('unban', { key: name }),
  /** `task`: its id in the data set, or its index there. */
  order('drop-task', { task: name }),
  order('disable-environment', { environment: name }),
  order('enable-environment', { environment: name }),
  order('rollback', { version: z.int().min(0) }),
  /** Without message and addresses: ends the announcement. */
  order('announce', { message: z.string().max(4096), addresses: z.array(z.string().max(512)).max(64) }),
  /** The new text of `run.yaml`, and its path: relative paths in it are relative to its folder. */
  order('settings', { text: z.string().max(48 * 1024), file: z.string().max(4096) }),
])
export type OrderAsk = z.output<typeof orderSchema>

/** Result of an order. */
export const orderAnswer = z.strictObject({
  /** Whether the order changed anything. */
  changed: z.boolean(),
  /** Sentences about the effects. */
  effects: z.array(z.string()),
})
export type OrderAnswer = z.output<typeof orderAnswer>

/** Orders apart from those for settings. */
type PlainAsk = Exclude<OrderAsk, { readonly order: 'settings' }>

export interface OrderServiceParts {
  readonly recorder: Pick<Recorder, 'record' | 'state'>
  readonly taskSet: Pick<TaskSet, 'tasks' | 'environments'>
  readonly settings: SettingsService
  /** Job directory of the trainer. */
  readonly jobs: string
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
}

/** Checks the operator's orders and records them. The part of the coordinator that an order concerns carries it out. */
export interface OrderService {
  /** Takes an order. @param by  who gives it, and by which way. @throws ControlRefusal if the order is not possible in this run */
  take(ask: OrderAsk, by: Order['by']): Promise<OrderAnswer>
}

const refuse = (why: string): ControlRefusal => new ControlRefusal('bad_request', why)

export function createOrderService({
  recorder,
  taskSet,
  settings,
  jobs,
  clock,
  signal,
}: OrderServiceParts): OrderService {
  const { tasks } = taskSet

  /** Returns the event to record, or why there is nothing to do. */
  const decide = (ask: PlainAsk, given: Order, state: RunState): OrderEvent | string => {
    const { orders } = state
    switch (ask.order) {
      case 'pause':
        return orders.pause ? 'the run is paused already' : { type: 'paused', ...given }
      case 'resume':
        return orders.pause ? { type: 'resumed', ...given } : 'the run is not paused'
      case 'ban': {
        const node = keyNamed(ask.key, state)
        return orders.banned.has(node) ? `${node} is banned already` : { type: 'banned', ...given, node }
      }
      case 'unban': {
        const node = keyNamed(ask.key, state)
        const isBlemished = state.nodes.get(node)?.reputation.isBlemished ?? false
        if (!orders.banned.has(node) && !isBlemished)
          return `${node} has nothing to restore: it is neither banned nor doubted`
        return { type: 'unbanned', ...given, node }
      }
      case 'drop-task': {
        const taskIndex = taskNamed(ask.task, tasks)
        const taskId = tasks[taskIndex]!.id
        if (orders.droppedTasks.has(taskIndex)) return `task ${taskId} is dropped already`
        checkTasksLeft(tasks, state, (_, i) => i === taskIndex)
        return { type: 'task-dropped', ...given, taskIndex, taskId }
      }
      case 'disable-environment': {
        const environment = environmentNamed(ask.environment, taskSet)
        if (orders.disabledEnvironments.has(environment)) return `environment ${environment} is disabled already`
        checkTasksLeft(tasks, state, ({ environments }) =>
          environments.some((played) => played.environment === environment),
        )
        return { type: 'environment-disabled', ...given, environment }
      }
      case 'enable-environment': {
        const environment = environmentNamed(ask.environment, taskSet)
        if (orders.disabledEnvironments.has(environment)) return { type: 'environment-enabled', ...given, environment }
        if (state.quarantinedEnvironments.has(environment))
          throw refuse(
            `environment ${environment} is nondeterministic, so it cannot be enabled again: repair it and start a new run`,
          )
        return `environment ${environment} is not disabled`
      }
      case 'rollback':
        return { type: 'rollback-ordered', ...given, version: checkTarget(ask.version, state).version }
      case 'announce': {
        const addresses = addressesIn(ask.addresses)
        const message = messageOf(ask.message)
        if (message === '' && addresses.length === 0 && !orders.announcement) return 'nothing is announced'
        return { type: 'announced', ...given, message, addresses }
      }
    }
  }

  return {
    async take(ask, by) {
      if (!recorder.state.round) throw refuse('the run has not published its first version yet: try again in a minute')
      if (ask.order === 'rollback') await checkStep(checkTarget(ask.version, recorder.state), jobs, signal)
      const reason = ask.reason === null || ask.reason.trim() === '' ? null : detailForWire(ask.reason.trim())
      if (ask.order === 'settings') {
        const effects = await settings.take(ask.text, ask.file, { by, reason })
        return { changed: effects !== null, effects: effects ?? ['these settings are in force already'] }
      }
      let nothingToDo = ''
      const recorded = await recorder.record((state) => {
        const decided = decide(ask, { atMs: clock.now(), by, reason }, state)
        if (typeof decided !== 'string') return decided
        nothingToDo = decided
        return null
      })
      if (recorded) return { changed: true, effects: effectOf(recorded, recorder.state) }
      return { changed: false, effects: [nothingToDo] }
    },
  }
}

/** Returns the key with this name, or the only key that ends with it. @throws ControlRefusal */
function keyNamed(ending: string, { registered }: RunState): string {
  if (registered.has(ending)) return ending
  const found = [...registered.keys()].filter((node) => node.endsWith(ending))
  if (found.length === 1) return found[0]!
  if (found.length === 0)
    throw refuse(`no key of this run ends with ${JSON.stringify(ending)}: prove-coordinator nodes lists the keys`)
  throw refuse(`${found.length} keys of this run end with ${JSON.stringify(ending)}: type more of it`)
}

function taskNamed(task: string, tasks: readonly Task[]): number {
  const index = tasks.findIndex(({ id }) => id === task)
  if (index >= 0) return index
  if (/^\d{1,9}$/.test(task) && Number(task) < tasks.length) return Number(task)
  throw refuse(
    `this run has no task ${JSON.stringify(task)}: type its id in the data set, or its number, 0 to ${tasks.length - 1}`,
  )
}

function environmentNamed(environment: string, { environments }: Pick<TaskSet, 'environments'>): string {
  const names = environments.map((environment) => environment.name)
  if (names.includes(environment)) return environment
  throw refuse(`this run has no environment ${JSON.stringify(environment)}: its environments are ${names.join(', ')}`)
}

function checkTasksLeft(
  tasks: readonly Task[],
  state: RunState,
  isRemoved: (task: Task, index: number) => boolean,
): void {
  if (tasks.some((task, i) => !isRemoved(task, i) && !isWithheld(task, i, state))) return
  throw refuse('no task would be left: pause the run instead')
}

/** Returns the publication of a version that the run can go back to. @throws ControlRefusal */
function checkTarget(version: number, state: RunState): Publication {
  const { current, publications, withdrawn, orders } = state
  const newest = current!.version
  if (newest >= state.configuration!.versions)
    throw refuse(
      'the run is complete, and its trainer has ended: raise `versions` in run.yaml and start the coordinator again first',
    )
  if (orders.rollback) throw refuse(`the run is rolling back to version ${orders.rollback.version} already`)
  const target = publications.find((one) => one.version === version)
  const possible = publications.filter((one) => !withdrawn.has(one.version) && one.adapterStep < current!.adapterStep)
  const instead =
    possible.length === 0
      ? 'no earlier version can be restored'
      : `the versions that can be restored are ${possible.map((one) => one.version).join(', ')}`
  if (!target || version > newest) throw refuse(`version ${version} is not served; the newest is ${newest}; ${instead}`)
  if (withdrawn.has(version)) throw refuse(`version ${version} is withdrawn; ${instead}`)
  if (target.adapterStep >= current!.adapterStep)
    throw refuse(`version ${newest} has the policy of version ${version} already; ${instead}`)
  return target
}

/** Checks the files of the step that the trainer has to continue from: they may be pruned (`keepSteps`) or lost. */
async function checkStep({ version, step }: Publication, jobs: string, signal: AbortSignal): Promise<void> {
  const why = await readStep(jobs, step).then(
    async (made) => {
      const [first] = await damagedFiles(made, signal)
      return first === undefined ? null : `${first} is missing or damaged`
    },
    (cause: Error) => cause.message,
  )
  if (why !== null) throw refuse(`the trainer cannot restore version ${version}: step ${step}: ${why}`)
}

function addressesIn(texts: readonly string[]): string[] {
  if (texts.length > LIMITS.addressesPerPeer.value)
    throw refuse(`an announcement can have at most ${LIMITS.addressesPerPeer.value} addresses`)
  const addresses = texts.map((text) => {
    try {
      multiaddr(text)
    } catch {
      throw refuse(`${JSON.stringify(text)} is no libp2p address: type one such as /dns4/run.example.org/tcp/4001`)
    }
    const address = withoutPeer(text)
    if (address.length > LIMITS.nameBytes.value)
      throw refuse(`${JSON.stringify(text)} is longer than ${LIMITS.nameBytes.value} characters`)
    return address
  })
  return [...new Set(addresses)]
}

/** Returns text for the terminals of others: without control characters and characters that change the text direction. */
function messageOf(text: string): string {
  const message = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  const bytes = Buffer.byteLength(message)
  const most = LIMITS.noticeMessageBytes.value
  if (bytes > most) throw refuse(`the message has ${bytes} bytes, and at most ${most} are allowed: shorten it`)
  return message
}

/** Returns sentences about the effect of an order. */
function effectOf(done: OrderEvent, state: RunState): string[] {
  switch (done.type) {
    case 'paused':
      return [
        `the run is paused: no leases are given and no batch is formed`,
        `${state.openLeases.size} open leases may still be delivered and count${state.pendingBatch ? `; ${state.pendingBatch.batchId} is trained to its end` : ''}`,
      ]
    case 'resumed':
      return ['the run is resumed, and nodes that wait for work are notified']
    case 'banned':
      return [
        `${done.node} is banned: it gets no leases, and its groups are refused`,
        `${state.heldBack.filter(({ node }) => node === done.node).length} of its accepted groups that are in no batch yet are held back while it is banned`,
      ]
    case 'unbanned': {
      const streak = state.nodes.get(done.node)?.reputation.streak ?? 0
      return [
        `${done.node} has its reputation back: it gets leases, failed audits have no weight any more, and its streak is ${streak} accepted groups`,
        'its groups that were held back can be trained on; earlier verdicts and their credit do not change',
      ]
    }
    case 'task-dropped':
      return [
        `task ${done.taskId} is dropped: it is not leased any more, and no batch takes its groups`,
        `${leasesOf(done, state)} open leases of it may still be delivered and earn credit`,
      ]
    case 'environment-disabled':
      return [`environment ${done.environment} is disabled: its tasks are not leased; its groups still count`]
    case 'environment-enabled':
      return [
        `environment ${done.environment} is enabled: its tasks are leased from the next round on, which opens now`,
      ]
    case 'rollback-ordered':
      return [
        `the run rolls back to version ${done.version}: no leases are given until its policy is published as the next version`,
        ...(state.pendingBatch ? [`before that, ${state.pendingBatch.batchId} is trained to its end`] : []),
        `the versions after ${done.version} will be withdrawn: their groups earn credit and are not trained on`,
      ]
    case 'announced':
      if (done.message === '' && done.addresses.length === 0) return ['the announcement is withdrawn']
      return [
        ...(done.message === '' ? [] : [`announced to volunteers, signed with the run's key: ${done.message}`]),
        ...(done.addresses.length === 0 ? [] : [`announced addresses: ${done.addresses.join(' ')}`]),
      ]
  }
}

const leasesOf = ({ taskIndex }: EventOf<'task-dropped'>, { openLeases }: RunState): number =>
  [...openLeases.values()].filter((lease) => lease.taskIndex === taskIndex).length

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

/** What an operator may order of a running coordinator. */
export const orderSchema = z.discriminatedUnion('order', [
  order('pause', {}),
  order('resume', {}),
  /** `key`: all of it, or an end of it that no other key of the run has. */
  order('ban', { key: name }),
  order('unban', { key: name }),
  /** `task`: its id in the data set, or its place there. */
  order('drop-task', { task: name }),
  order('disable-environment', { environment: name }),
  order('enable-environment', { environment: name }),
  order('rollback', { version: z.int().min(0) }),
  /** Without both: what was announced is told no more. */
  order('announce', { message: z.string().max(4096), addresses: z.array(z.string().max(512)).max(64) }),
  /** The `run.yaml` that shall hold from now on, and where it lies: relative paths in it are relative to its folder. */
  order('settings', { text: z.string().max(48 * 1024), file: z.string().max(4096) }),
])
export type OrderAsk = z.output<typeof orderSchema>

/** What became of an order, in words. */
export const orderAnswer = z.strictObject({
  /** Whether anything is otherwise than before. */
  changed: z.boolean(),
  said: z.array(z.string()),
})
export type OrderAnswer = z.output<typeof orderAnswer>

/** All but those that are settled elsewhere. */
type PlainAsk = Exclude<OrderAsk, { readonly order: 'settings' }>

export interface OrderServiceParts {
  readonly recorder: Pick<Recorder, 'record' | 'state'>
  readonly taskSet: Pick<TaskSet, 'tasks' | 'environments'>
  readonly settings: SettingsService
  /** Of the trainer. */
  readonly jobs: string
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
}

/** Takes the operator's orders, checks them and puts them on record. Each is carried out by the part of the run that it concerns. */
export interface OrderService {
  /** @param by  who gives the order, and by which way. @throws ControlRefusal for one that makes no sense in this run */
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

  /** @returns  the event to be recorded, or why there is nothing to do */
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
        if (!orders.banned.has(node) && !isBlemished) return `there is nothing to give back to ${node}`
        return { type: 'unbanned', ...given, node }
      }
      case 'drop-task': {
        const taskIndex = taskNamed(ask.task, tasks)
        const taskId = tasks[taskIndex]!.id
        if (orders.droppedTasks.has(taskIndex)) return `the task ${taskId} is dropped already`
        checkTasksLeft(tasks, state, (_, i) => i === taskIndex)
        return { type: 'task-dropped', ...given, taskIndex, taskId }
      }
      case 'disable-environment': {
        const environment = environmentNamed(ask.environment, taskSet)
        if (orders.disabledEnvironments.has(environment)) return `the world ${environment} is at rest already`
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
            `the world ${environment} disagrees with itself: it is out of the run, and no order brings it back`,
          )
        return `the world ${environment} is not at rest`
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
        const said = await settings.take(ask.text, ask.file, { by, reason })
        return { changed: said !== null, said: said ?? ['the run goes by these settings already'] }
      }
      let nothing = ''
      const recorded = await recorder.record((state) => {
        const decided = decide(ask, { atMs: clock.now(), by, reason }, state)
        if (typeof decided !== 'string') return decided
        nothing = decided
        return null
      })
      if (recorded) return { changed: true, said: effectOf(recorded, recorder.state) }
      return { changed: false, said: [nothing] }
    },
  }
}

/** The key that has this name, or the only one whose name ends like this. */
function keyNamed(ending: string, { registered }: RunState): string {
  if (registered.has(ending)) return ending
  const found = [...registered.keys()].filter((node) => node.endsWith(ending))
  if (found.length === 1) return found[0]!
  if (found.length === 0)
    throw refuse(`no key of this run is ${JSON.stringify(ending)} or ends so: prove-coordinator nodes lists them`)
  throw refuse(`${found.length} keys of this run end with ${JSON.stringify(ending)}: give more of it`)
}

function taskNamed(task: string, tasks: readonly Task[]): number {
  const index = tasks.findIndex(({ id }) => id === task)
  if (index >= 0) return index
  if (/^\d{1,9}$/.test(task) && Number(task) < tasks.length) return Number(task)
  throw refuse(
    `there is no task ${JSON.stringify(task)} in this run: name its id in the data set, or its number, 0 to ${tasks.length - 1}`,
  )
}

function environmentNamed(environment: string, { environments }: Pick<TaskSet, 'environments'>): string {
  const names = environments.map((environment) => environment.name)
  if (names.includes(environment)) return environment
  throw refuse(`the world ${JSON.stringify(environment)} is not in this run: its worlds are ${names.join(', ')}`)
}

function checkTasksLeft(tasks: readonly Task[], state: RunState, goes: (task: Task, index: number) => boolean): void {
  if (tasks.some((task, i) => !goes(task, i) && !isWithheld(task, i, state))) return
  throw refuse('no task would be left to work on: pause the run instead')
}

/** @returns  what was published as the version */
function checkTarget(version: number, state: RunState): Publication {
  const { current, publications, withdrawn, orders } = state
  const newest = current!.version
  if (newest >= state.configuration!.versions)
    throw refuse(
      'the run is complete, and its trainer has ended: raise `versions` in run.yaml and start the coordinator again first',
    )
  if (orders.rollback) throw refuse(`the run is going back to version ${orders.rollback.version} already`)
  const target = publications.find((one) => one.version === version)
  const possible = publications.filter((one) => !withdrawn.has(one.version) && one.adapterStep < current!.adapterStep)
  const instead =
    possible.length === 0
      ? 'there is no earlier one to go back to'
      : `it can go back to ${possible.map((one) => one.version).join(', ')}`
  if (!target || version > newest)
    throw refuse(`this run has no version ${version} that is served: the newest is ${newest}; ${instead}`)
  if (withdrawn.has(version)) throw refuse(`version ${version} is withdrawn itself; ${instead}`)
  if (target.adapterStep >= current!.adapterStep)
    throw refuse(`version ${newest} has the policy of version ${version} already; ${instead}`)
  return target
}

/** The trainer goes on from the step's own state, which may be pruned (`keepSteps`) or lost. */
async function checkStep({ version, step }: Publication, jobs: string, signal: AbortSignal): Promise<void> {
  const why = await readStep(jobs, step).then(
    async (made) => {
      const [first] = await damagedFiles(made, signal)
      return first === undefined ? null : `${first} is missing or damaged`
    },
    (cause: Error) => cause.message,
  )
  if (why !== null) throw refuse(`the trainer cannot go back to version ${version}: its step ${step}: ${why}`)
}

function addressesIn(texts: readonly string[]): string[] {
  if (texts.length > LIMITS.addressesPerPeer.value)
    throw refuse(`at most ${LIMITS.addressesPerPeer.value} addresses fit an announcement`)
  const addresses = texts.map((text) => {
    try {
      multiaddr(text)
    } catch {
      throw refuse(`${JSON.stringify(text)} is no address: write it like /dns4/run.example.org/tcp/4001`)
    }
    const address = withoutPeer(text)
    if (address.length > LIMITS.nameBytes.value)
      throw refuse(`${JSON.stringify(text)} is longer than ${LIMITS.nameBytes.value} characters`)
    return address
  })
  return [...new Set(addresses)]
}

/** Text for other people's terminals: no control characters, none that change the direction of what follows. */
function messageOf(text: string): string {
  const message = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  const bytes = Buffer.byteLength(message)
  const most = LIMITS.noticeMessageBytes.value
  if (bytes > most) throw refuse(`the message has ${bytes} bytes, and ${most} are told to volunteers: say it shorter`)
  return message
}

/** What changes by it, for whoever gave the order. */
function effectOf(done: OrderEvent, state: RunState): string[] {
  switch (done.type) {
    case 'paused':
      return [
        `the run is paused: no leases are given, and no batch is formed`,
        `${state.openLeases.size} open leases may still be delivered and count${state.pendingBatch ? `; ${state.pendingBatch.batchId} is trained to its end` : ''}`,
      ]
    case 'resumed':
      return ['the run goes on: nodes that wait for work are told']
    case 'banned':
      return [
        `${done.node} is banned: it gets no leases, and what it delivers is refused as banned`,
        `${state.heldBack.filter(({ node }) => node === done.node).length} accepted groups of it that are in no batch yet are not trained on while it is`,
      ]
    case 'unbanned': {
      const streak = state.nodes.get(done.node)?.reputation.streak ?? 0
      return [
        `${done.node} has its standing back: it gets leases, failed audits weigh nothing any more, and ${streak} accepted groups count for it`,
        'its groups that were held back can be trained on; verdicts that were given, and their credit, stay as they are',
      ]
    }
    case 'task-dropped':
      return [
        `the task ${done.taskId} is dropped: nobody gets it any more, and no batch takes groups of it`,
        `${leasesOf(done, state)} open leases of it may still be delivered, and earn their credit`,
      ]
    case 'environment-disabled':
      return [
        `the world ${done.environment} is at rest: no leases for its tasks; groups of it that come or are there count`,
      ]
    case 'environment-enabled':
      return [`the world ${done.environment} is awake: its tasks are given from the next round on, which opens now`]
    case 'rollback-ordered':
      return [
        `the run goes back to version ${done.version}: no leases are given until its policy is published again, signed, as the next version`,
        ...(state.pendingBatch ? [`before that, ${state.pendingBatch.batchId} is trained to its end`] : []),
        `the versions after ${done.version} are withdrawn then: their groups earn credit and are not trained on`,
      ]
    case 'announced':
      if (done.message === '' && done.addresses.length === 0) return ['nothing is announced any more']
      return [
        ...(done.message === '' ? [] : [`volunteers are told, signed with the run's key: ${done.message}`]),
        ...(done.addresses.length === 0 ? [] : [`and that this run is to be found at ${done.addresses.join(' ')}`]),
      ]
  }
}

const leasesOf = ({ taskIndex }: EventOf<'task-dropped'>, { openLeases }: RunState): number =>
  [...openLeases.values()].filter((lease) => lease.taskIndex === taskIndex).length

import { type Command, InvalidArgumentError } from 'commander'
import { ControlError, reachControl } from '../../common/control/index.js'
import { ORDER } from '../service/control-routes.js'
import { type OrderAnswer, type OrderAsk, orderAnswer } from '../service/order-service.js'
import { ConfigError } from '../settings/config.js'
import { orderRemotely, remoteRun } from './remote-order.js'
import { dataDirOf, type RunOptions, withRunOptions } from './run-log.js'

const TIMEOUT_MS = 60_000

interface OrderOptions extends RunOptions {
  readonly reason?: string
  readonly at?: string
  readonly tokenFile?: string
}

/** A command that gives an order to the running coordinator of a run, and says what changes by it. */
const orderCommand = (program: Command, name: string, description: string): Command =>
  withRunOptions(program.command(name).description(`${description}. Takes a running coordinator`))
    .option('--at <url>', 'the dashboard of a coordinator that runs elsewhere, such as https://run.example.org')
    .option('--token-file <file>', 'with --at: holds the token of the run (dashboard.tokenFile in run.yaml)')

const withReason = (command: Command): Command =>
  command.option('--reason <text>', 'why: it goes into the log, and volunteers whom it concerns are told')

async function give(name: string, options: OrderOptions, ask: OrderAsk): Promise<void> {
  const { at, tokenFile, config, dataDir } = options
  if (at === undefined && tokenFile === undefined) return postOrder(dataDirOf(name, options), ask)
  if (at === undefined || config !== undefined || dataDir !== undefined)
    throw new ConfigError(`${name}: give --at with --token-file, or --config, or --data-dir`)
  print(await orderRemotely(await remoteRun(at, tokenFile), ask, AbortSignal.timeout(TIMEOUT_MS)))
}

/** Gives an order to the coordinator that runs on a data folder, and prints what changes by it. @throws ControlError */
export async function postOrder(folder: string, ask: OrderAsk): Promise<void> {
  const control = await reachControl(folder, AbortSignal.timeout(TIMEOUT_MS))
  if (!control)
    throw new ControlError('unreachable', `no coordinator is running on ${folder}, and only a running one takes orders`)
  print(orderAnswer.parse(await control.post(ORDER, ask)))
}

const print = ({ said }: OrderAnswer): void => void process.stdout.write(`${said.join('\n')}\n`)

const why = ({ reason }: OrderOptions): string | null => reason ?? null

export function addPauseCommand(program: Command): void {
  withReason(
    orderCommand(program, 'pause', 'Give no more leases and begin no more steps; what is under way is finished'),
  ).action((options: OrderOptions) => give('pause', options, { order: 'pause', reason: why(options) }))
}

export function addResumeCommand(program: Command): void {
  withReason(orderCommand(program, 'resume', 'End a pause')).action((options: OrderOptions) =>
    give('resume', options, { order: 'resume', reason: why(options) }),
  )
}

const KEY = ['<key>', 'the key; an end of it that no other has is enough'] as const

export function addBanCommand(program: Command): void {
  withReason(orderCommand(program, 'ban', 'Keep a key from the run: no leases, and what it delivers is refused'))
    .argument(...KEY)
    .action((key: string, options: OrderOptions) => give('ban', options, { order: 'ban', reason: why(options), key }))
}

export function addUnbanCommand(program: Command): void {
  withReason(
    orderCommand(
      program,
      'unban',
      'Give a key its standing back: a ban, a quarantine or an exclusion ends, and failed audits weigh nothing any more',
    ),
  )
    .argument(...KEY)
    .action((key: string, options: OrderOptions) =>
      give('unban', options, { order: 'unban', reason: why(options), key }),
    )
}

export function addDropTaskCommand(program: Command): void {
  withReason(
    orderCommand(program, 'drop-task', 'Take a task out of the run for good: no more leases, and no training on it'),
  )
    .argument('<task>', 'its id in the data set, or its number as `groups` shows it')
    .action((task: string, options: OrderOptions) =>
      give('drop-task', options, { order: 'drop-task', reason: why(options), task }),
    )
}

export function addDisableEnvironmentCommand(program: Command): void {
  withReason(orderCommand(program, 'disable-environment', 'Give no leases for the tasks of a world until it is woken'))
    .argument('<world>', 'such as banking')
    .action((environment: string, options: OrderOptions) =>
      give('disable-environment', options, { order: 'disable-environment', reason: why(options), environment }),
    )
}

export function addEnableEnvironmentCommand(program: Command): void {
  withReason(orderCommand(program, 'enable-environment', 'End the rest of a world'))
    .argument('<world>', 'such as banking')
    .action((environment: string, options: OrderOptions) =>
      give('enable-environment', options, { order: 'enable-environment', reason: why(options), environment }),
    )
}

export function versionArgument(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give the number of a version, 0 or more.')
  return Number(text)
}

export function addRollbackCommand(program: Command): void {
  withReason(
    orderCommand(program, 'rollback', 'Publish the policy of an earlier version again, and withdraw those after it'),
  )
    .argument('<version>', 'the version to go back to', versionArgument)
    .action((version: number, options: OrderOptions) =>
      give('rollback', options, { order: 'rollback', reason: why(options), version }),
    )
}

interface AnnounceOptions extends OrderOptions {
  readonly address: readonly string[]
  readonly clear: boolean
}

export function addAnnounceCommand(program: Command): void {
  orderCommand(program, 'announce', 'Tell all volunteers something, signed, until something else is announced')
    .argument('[text]', 'a sentence or two')
    .option('--address <multiaddr...>', 'where the run is to be found too, such as /dns4/run.example.org/tcp/4001', [])
    .option('--clear', 'announce nothing any more', false)
    .action((text: string | undefined, options: AnnounceOptions) => {
      const { address: addresses, clear } = options
      const says = text !== undefined || addresses.length > 0
      if (says === clear) throw new ConfigError('announce: give a text or --address, or --clear alone')
      return give('announce', options, {
        order: 'announce',
        reason: null,
        message: text ?? '',
        addresses: [...addresses],
      })
    })
}

import { type Command, InvalidArgumentError, Option } from 'commander'
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

/** Adds a command that sends an order to the running coordinator of a run and prints the effect. */
const orderCommand = (program: Command, name: string, description: string): Command =>
  withRunOptions(program.command(name).description(`${description}. Needs a running coordinator`))
    .addOption(
      new Option(
        '--at <url>',
        'dashboard of a coordinator on another machine, such as https://run.example.org',
      ).conflicts(['config', 'dataDir']),
    )
    .option('--token-file <file>', 'with --at: file with the token of the run (dashboard.tokenFile in run.yaml)')

const withReason = (command: Command): Command =>
  command.option('--reason <text>', 'reason, which is logged and shown to the volunteers concerned')

async function give(options: OrderOptions, ask: OrderAsk): Promise<void> {
  const { at, tokenFile } = options
  if (at === undefined && tokenFile === undefined) return postOrder(dataDirOf(options), ask)
  if (at === undefined) throw new ConfigError('--token-file needs --at: name the dashboard of the coordinator')
  print(await orderRemotely(await remoteRun(at, tokenFile), ask, AbortSignal.timeout(TIMEOUT_MS)))
}

/** Sends an order to the coordinator that runs on a data folder, and prints the effect. @throws ControlError */
export async function postOrder(folder: string, ask: OrderAsk): Promise<void> {
  const control = await reachControl(folder, AbortSignal.timeout(TIMEOUT_MS))
  if (!control)
    throw new ControlError('unreachable', `no coordinator is running on ${folder} that could take the order: start it`)
  print(orderAnswer.parse(await control.post(ORDER, ask)))
}

const print = ({ effects }: OrderAnswer): void => void process.stdout.write(`${effects.join('\n')}\n`)

const why = ({ reason }: OrderOptions): string | null => reason ?? null

export function addPauseCommand(program: Command): void {
  withReason(
    orderCommand(
      program,
      'pause',
      'Stop giving leases and forming batches; open leases and the current step are finished',
    ),
  ).action((options: OrderOptions) => give(options, { order: 'pause', reason: why(options) }))
}

export function addResumeCommand(program: Command): void {
  withReason(orderCommand(program, 'resume', 'End a pause')).action((options: OrderOptions) =>
    give(options, { order: 'resume', reason: why(options) }),
  )
}

const KEY = ['<key>', 'the key; an end that no other key has suffices'] as const

export function addBanCommand(program: Command): void {
  withReason(orderCommand(program, 'ban', 'Ban a key: it gets no leases, and its groups are refused'))
    .argument(...KEY)
    .action((key: string, options: OrderOptions) => give(options, { order: 'ban', reason: why(options), key }))
}

export function addUnbanCommand(program: Command): void {
  withReason(
    orderCommand(
      program,
      'unban',
      'Restore the reputation of a key: ends a ban, a quarantine or an exclusion, and forgets failed audits',
    ),
  )
    .argument(...KEY)
    .action((key: string, options: OrderOptions) => give(options, { order: 'unban', reason: why(options), key }))
}

export function addDropTaskCommand(program: Command): void {
  withReason(
    orderCommand(program, 'drop-task', 'Remove a task from the run for good: no more leases, and no training on it'),
  )
    .argument('<task>', 'its id in the data set, or its number as "groups list" shows it')
    .action((task: string, options: OrderOptions) => give(options, { order: 'drop-task', reason: why(options), task }))
}

export function addDisableEnvironmentCommand(program: Command): void {
  withReason(
    orderCommand(
      program,
      'disable-environment',
      'Give no leases for the tasks of an environment until it is enabled again',
    ),
  )
    .argument('<environment>', 'such as banking')
    .action((environment: string, options: OrderOptions) =>
      give(options, { order: 'disable-environment', reason: why(options), environment }),
    )
}

export function addEnableEnvironmentCommand(program: Command): void {
  withReason(orderCommand(program, 'enable-environment', 'Give leases for the tasks of a disabled environment again'))
    .argument('<environment>', 'such as banking')
    .action((environment: string, options: OrderOptions) =>
      give(options, { order: 'enable-environment', reason: why(options), environment }),
    )
}

export function versionArgument(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Type the number of a version, 0 or more.')
  return Number(text)
}

export function addRollbackCommand(program: Command): void {
  withReason(
    orderCommand(
      program,
      'rollback',
      'Publish the policy of an earlier version again, and withdraw the versions after it',
    ),
  )
    .argument('<version>', 'the version to go back to', versionArgument)
    .action((version: number, options: OrderOptions) =>
      give(options, { order: 'rollback', reason: why(options), version }),
    )
}

interface AnnounceOptions extends OrderOptions {
  readonly address: readonly string[]
  readonly clear: boolean
}

export function addAnnounceCommand(program: Command): void {
  orderCommand(program, 'announce', 'Send a signed announcement to all volunteers, which replaces the previous one')
    .argument('[text]', 'a sentence or two')
    .option('--address <multiaddr...>', 'further address of the run, such as /dns4/run.example.org/tcp/4001', [])
    .option('--clear', 'withdraw the announcement', false)
    .action((text: string | undefined, options: AnnounceOptions) => {
      const { address: addresses, clear } = options
      const hasContent = text !== undefined || addresses.length > 0
      if (hasContent === clear) throw new ConfigError('announce: give a text or --address, or only --clear')
      return give(options, {
        order: 'announce',
        reason: null,
        message: text ?? '',
        addresses: [...addresses],
      })
    })
}

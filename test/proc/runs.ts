import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { stringify } from 'yaml'
import { openEventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { publicEvent } from '../../coordinator/ledger/public-event.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import type { RunState } from '../../coordinator/ledger/run-state.js'
import { checkLog } from '../chaos/check-log.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { demoModel, type Line, type Machine, type Program } from '../support/programs.js'

/** Small runs of the real programs with the demo model, and what their processes and logs tell. */

/** For runs that go on until their tests have done what they want, and are started again with `nextVersion` then. */
export const ENDLESS = 100_000
const MAX_STALENESS = 2
const LEASES_PER_NODE = 2

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/** Whether a coordinator's progress line tells of an event that fits. */
export const tells =
  <T extends RunEvent['type']>(type: T, fits: (event: EventOf<T>) => boolean = () => true) =>
  (line: Line): boolean => {
    const event = line.event as RunEvent
    return line.type === 'event' && event.type === type && fits(event as EventOf<T>)
  }
export const trainerSays =
  (event: string) =>
  (line: Line): boolean =>
    line.type === 'trainer' && (line.event as { event: string }).event === event

export interface Run {
  readonly dataDir: string
  readonly address: string
  readonly runId: string
  readonly coordinator: Program
  /** Starts the coordinator again, where it was. @param change  fields of run.yaml from now on */
  again(change?: object): Promise<Run>
  /**
   * @param address  where the coordinator is reached, if not where it listens
   * @param more     further options
   */
  node(name: string, address?: string, more?: readonly string[]): Program
}

export interface RunSettings {
  /** Fields of run.yaml. */
  readonly config: object
  /** Base model; default: the demo's. */
  readonly model?: string
  /** Writes the data set; default: one of the demo's. */
  readonly writeTasks?: (folder: string) => Promise<void>
  /** Rollouts that a node generates in parallel. Default: 4, which is a group. */
  readonly slots?: number
  /** Called once, before the first start. @param file  path of run.yaml */
  readonly beforeStart?: (file: string) => Promise<void>
  /** A command that starts the coordinator. */
  readonly through?: readonly string[]
}

/** Starts a coordinator for a small run in `<name>/`, or starts it again. */
export async function startRun(on: Machine, name: string, settings: RunSettings): Promise<Run> {
  const { config, slots = 4, through, model = demoModel() } = settings
  const { writeTasks = (tasks: string) => writeDemoTasks(tasks, 50, 1) } = settings
  const folder = join(on.folder, name)
  await mkdir(folder)
  await writeTasks(join(folder, 'tasks'))
  let fields: object = {
    dataDir: 'coordinator',
    listen: ['/ip4/127.0.0.1/tcp/0'],
    dashboard: { enabled: false },
    base: { path: model, name: 'prove-demo-base' },
    tasks: { dataset: 'tasks' },
    groupSize: 4,
    batchGroups: 2,
    maxStaleness: MAX_STALENESS,
    // New keys get leases without waiting five seconds for the next round.
    rounds: { registrationMs: 200 },
    // On a busy machine a group takes long, and a late one would be refused.
    leases: { perNode: LEASES_PER_NODE, durationMs: 4 * PATIENCE_MS },
    limits: { maxTurnTokens: 64, maxRolloutTokens: 512, maxAssistantTurns: 4 },
    trainer: { settings: { lora: { rank: 4, alpha: 8 } } },
    ...config,
  }
  const file = join(folder, 'run.yaml')
  let isPrepared = false
  const start = async (change: object = {}): Promise<Run> => {
    fields = { ...fields, ...change }
    await writeFile(file, stringify(fields))
    if (!isPrepared) await settings.beforeStart?.(file)
    isPrepared = true
    const args = ['start', '--config', file, '--json', '--no-dry-run']
    const coordinator = on.start('coordinator', args, name, through)
    const { addresses, runId } = await coordinator.until('its address', ({ type }) => type === 'listening')
    const [address] = addresses as string[]
    // Nodes that have come by this address are to find it there again.
    fields = { ...fields, listen: [address!.replace(/\/p2p\/.*$/, '')] }
    return {
      dataDir: join(folder, 'coordinator'),
      address: address!,
      runId: runId as string,
      coordinator,
      again: start,
      node(node, at = address!, more = []) {
        const files = ['--data-dir', join(folder, node), '--model', model]
        return on.start(
          'node',
          [
            'join',
            at,
            ...files,
            '--cpu',
            '--slots',
            String(slots),
            '--stay',
            '--priority',
            'normal',
            '--json',
            ...more,
          ],
          node,
        )
      },
    }
  }
  return start()
}

/** A version with which a run can end that has told of these events: it may have one more in its log by now, but not two. */
export const nextVersion = (stated: readonly RunEvent[]): number =>
  1 + Math.max(0, ...stated.flatMap((event) => (event.type === 'published' ? [event.version] : [])))

export const peerOf = async (node: Program): Promise<string> =>
  (await node.until('its name', ({ type }) => type === 'ready')).peerId as string

/** A node with nothing to do and nothing to wait for, after the run is complete. */
export const settled = (line: Line): boolean => line.type === 'idle' && line.reason === 'complete' && line.waiting === 0

export async function stop(...programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.kill('SIGTERM')
  for (const program of programs) assert.is(await program.ended, 0, `${program.name}: ${program.stderr.slice(-2000)}`)
}

export async function nobodyLeft(on: Machine): Promise<void> {
  const signal = patience()
  while (on.processes().length > 0 && !signal.aborted) await sleep(50)
  assert.equal(on.processes(), [])
}

export async function readLog(dataDir: string): Promise<{ events: RunEvent[]; state: RunState }> {
  const log = await openEventLog(join(dataDir, 'log'))
  const events: RunEvent[] = []
  for await (const event of log.replay()) events.push(event)
  const recorder = await openRecorder(log, () => undefined)
  await recorder.close()
  return { events, state: recorder.state }
}

export const childOf = (on: Machine, fits: (command: string) => boolean): number => {
  const found = on.processes().find(({ command }) => fits(command))
  if (!found)
    throw new Error(
      `no such process among\n${on
        .processes()
        .map(({ command }) => command)
        .join('\n')}`,
    )
  return found.pid
}
export const isTrainer = (command: string): boolean =>
  command.includes('-m prove_trainer --jobs') && !command.includes('torch.distributed.run')

export const isAuditor = (command: string): boolean => command.includes('-m prove_trainer --audits')

/** The process itself, not the commands that confine it and wait for its end. */
export const isEngine = (command: string): boolean => /^\S*node\S* .*engine\/worker/.test(command)

/** Every event that a coordinator told of so far. */
export const statedBy = ({ lines }: Program): RunEvent[] =>
  lines.flatMap((line) => (line.type === 'event' ? [line.event as RunEvent] : []))

/** Whatever was told is in the log, and the log holds to the rules of any run, whatever was killed. */
export function checkRun(events: readonly RunEvent[], state: RunState, stated: readonly RunEvent[]): void {
  const written = new Set(events.map((event) => JSON.stringify(publicEvent(event))))
  assert.equal(
    stated.filter((event) => !written.has(JSON.stringify(event))),
    [],
    'whatever was told is in the log',
  )
  const versions = state.current?.version ?? -1
  assert.equal(checkLog(events, { versions, maxStaleness: MAX_STALENESS, leasesPerNode: LEASES_PER_NODE }), [])
}

import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { writeLenientCalibration } from '../proc/lenient-calibration.js'
import {
  checkRun,
  ENDLESS,
  isAuditor,
  isTrainer,
  nextVersion,
  nobodyLeft,
  type Run,
  readLog,
  settled,
  startRun,
  statedBy,
  stop,
} from '../proc/runs.js'
import type { Machine, Program } from './programs.js'

/** Largest number of events between two kills. */
const LONGEST_WAIT = 8

export interface KillsOptions {
  /** Determines which process is killed first and after how many events, as far as a machine can repeat it. */
  readonly seed: number
  readonly kills: number
  /** Last version of the run, unless the last kill comes later: then the next version. */
  readonly versions: number
  onKill(victim: string): void
}

type Victim = 'coordinator' | 'auditor' | 'trainer' | 'ann' | 'ben'
/**
 * Processes in the order of kills. A process that does not run at its turn is killed when it starts. The coordinator owns the log, so it
 * is killed most often.
 */
const VICTIMS: readonly Victim[] = ['coordinator', 'auditor', 'ann', 'coordinator', 'trainer', 'ben']

/**
 * Plays a run of two nodes in which every group is audited, and kills the coordinator, its audit process, its trainer and the nodes
 * with SIGKILL at random instants. The run must complete, and its log must obey the rules.
 * @returns the events of the log
 */
export async function killAtRandom(on: Machine, options: KillsOptions): Promise<readonly RunEvent[]> {
  const random = seededRandom(options.seed)
  const calibration = join(on.folder, 'calibration.json')
  writeLenientCalibration(calibration)
  const stated: RunEvent[] = []
  let run: Run = await startRun(on, 'run', {
    config: {
      versions: ENDLESS,
      audit: { calibrations: [calibration] },
      rounds: { registrationMs: 200 },
    },
  })
  const nodes: Record<'ann' | 'ben', Program> = { ann: run.node('ann'), ben: run.node('ben') }

  const killCoordinator = async (): Promise<void> => {
    run.coordinator.kill('SIGKILL')
    await run.coordinator.ended
    stated.push(...statedBy(run.coordinator))
  }
  const strike: Readonly<Record<Victim, () => Promise<boolean>>> = {
    async coordinator() {
      await killCoordinator()
      run = await run.again()
      return true
    },
    auditor: async () => killOne(on, isAuditor),
    trainer: async () => killOne(on, isTrainer),
    ann: () => killNode('ann'),
    ben: () => killNode('ben'),
  }
  const killNode = async (name: 'ann' | 'ben'): Promise<boolean> => {
    nodes[name].kill('SIGKILL')
    await nodes[name].ended
    nodes[name] = run.node(name)
    return true
  }

  const first = random.int(0, VICTIMS.length - 1)
  for (let kill = 0; kill < options.kills; ) {
    let wait = random.int(1, LONGEST_WAIT)
    const seen = run.coordinator.lines.length
    await run.coordinator.until('more to happen', ({ type }) => type === 'event' && --wait <= 0, seen)
    const victim = VICTIMS[(first + kill) % VICTIMS.length]!
    if (!(await strike[victim]())) continue
    options.onKill(victim)
    kill += 1
  }

  // Only now may the run complete, however fast the machine is.
  await killCoordinator()
  run = await run.again({ versions: Math.max(options.versions, nextVersion(stated)) })
  const { version } = await run.coordinator.until('the end of the run', ({ type }) => type === 'complete')
  const living = Object.values(nodes)
  await Promise.all(living.map((node) => node.until('its rest', settled, node.lines.length)))
  stated.push(...statedBy(run.coordinator))
  await stop(...living, run.coordinator)
  await nobodyLeft(on)
  const { events, state } = await readLog(run.dataDir)
  checkRun(events, state, stated)
  assert.is(state.current!.version, version)
  assert.ok(state.current!.version >= options.versions)
  assert.equal([...state.openLeases.keys()], [], 'no lease is left open')
  assert.equal(
    events.filter((event) => event.type === 'judged' && !event.accepted),
    [],
    'nothing honest was refused',
  )
  return events
}

/** Kills a process. @returns whether one was running */
function killOne(on: Machine, fits: (command: string) => boolean): boolean {
  const found = on.processes().find(({ command }) => fits(command))
  if (found) process.kill(found.pid, 'SIGKILL')
  return found !== undefined
}

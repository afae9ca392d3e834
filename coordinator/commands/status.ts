import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { reachControl } from '../../common/control/index.js'
import { alarmsOf } from '../report/alarms.js'
import { ordersAsJson, orderWords } from '../report/order-words.js'
import { type RunReport, RunTally } from '../report/run-report.js'
import type { VersionReport } from '../report/version-report.js'
import { countsOf, durationOf, numberOf, scoreWords, timeOf } from '../report/words.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'
import { tableOf } from './table.js'

export function addStatusCommand(program: Command): void {
  withRunOptions(
    program.command('status').description('Show the progress of a run, whether its coordinator runs or not'),
  )
    .option('--json', 'print JSON on stdout', false)
    .action(status)
}

async function status(options: RunOptions & { json: boolean }): Promise<void> {
  const dataDir = dataDirOf(options)
  await interruptible('', async (signal) => {
    const tally = new RunTally()
    for await (const event of readEvents(dataDir, signal)) tally.add(event)
    const isRunning = (await reachControl(dataDir, signal)) !== null
    const report = tally.report()
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ isRunning, ...report, refused: Object.fromEntries(report.refused), orders: ordersAsJson(report.orders), alarms: alarmsOf(report) })}\n`
        : `${statusText(report, isRunning, Date.now())}\n`,
    )
  })
}

/** Versions in the table. */
const SHOWN = 10

/** @param nowMs  time of the report */
export function statusText(report: RunReport, isRunning: boolean, nowMs: number): string {
  const { configuration, versions } = report
  if (!configuration || report.startedAtMs === null || report.lastEventAtMs === null) return 'the run has no events yet'
  const newest = versions.length - 1
  const refused = [...report.refused.values()].reduce((sum, count) => sum + count, 0)
  const zeroVariance =
    report.accepted === 0 ? '' : `, ${Math.round((100 * report.zeroVariance) / report.accepted)} % without variance`
  const lines = [
    `${isRunning ? 'the coordinator is running' : 'no coordinator is running'}; the last event was ${durationOf(nowMs - report.lastEventAtMs)} ago`,
    `version ${Math.max(0, newest)} of ${configuration.versions} of ${configuration.base.name}, started ${timeOf(report.startedAtMs)}, round ${report.round ?? '-'}`,
    ...orderWords(report.orders),
    forecast(report, newest, nowMs),
    `groups: ${report.accepted} accepted${zeroVariance}, ${refused} refused${refused === 0 ? '' : ` (${countsOf(report.refused)})`}`,
    `keys: ${report.keys}; open leases: ${report.openLeases}; tokens verified: ${report.tokens.toLocaleString('en')}`,
    heldOutLine(versions),
    leftLine(versions.at(-1)),
    report.pendingBatch === null ? null : `in training: ${report.pendingBatch}`,
    ...alarmsOf(report).map(({ text }) => `alarm: ${text}`),
    ...report.quarantinedEnvironments.map(
      (environment) => `environment ${environment} is nondeterministic: its tasks are disabled`,
    ),
    ...report.refusedBatches
      .slice(-3)
      .map(({ batchId, code, detail }) => `the trainer refused batch ${batchId}: ${code} ${detail}`),
  ]
  const shown = lines.filter((line) => line !== null).join('\n')
  return versions.length === 0 ? shown : `${shown}\n\n${versionTable(versions.slice(-SHOWN))}`
}

/** Returns why nodes ended their work under the newest version. */
function leftLine(newest: VersionReport | undefined): string | null {
  const left = Object.entries(newest?.left ?? {})
  return left.length === 0 ? null : `nodes that ended at version ${newest!.version}: ${countsOf(new Map(left))}`
}

function forecast({ configuration, completeAtMs }: RunReport, newest: number, nowMs: number): string | null {
  if (newest >= configuration!.versions) return 'the run is complete'
  if (completeAtMs === null) return null
  const rest = completeAtMs - nowMs
  return rest > 0 ? `complete in about ${durationOf(rest)}` : 'the next version takes longer than those before it'
}

/** Returns the newest score, with the first one for comparison. */
function heldOutLine(versions: readonly VersionReport[]): string | null {
  const scored = versions.flatMap(({ version, heldOut }) => (heldOut ? [{ version, heldOut }] : []))
  const [first, last] = [scored[0], scored.at(-1)]
  if (!first || !last) return null
  const before = first === last ? '' : ` (version ${first.version}: ${first.heldOut.reward.mean.toFixed(3)})`
  return `version ${last.version} on ${last.heldOut.tasks} held-out tasks: ${scoreWords(last.heldOut)}${before}`
}

const markOf = ({ withdrawn, skipped, skippedFor }: VersionReport): string =>
  withdrawn ? ' (withdrawn)' : skippedFor === 'rollback' ? ' (rollback)' : skipped ? ' (no update)' : ''

function versionTable(versions: readonly VersionReport[]): string {
  const columns = [
    'version',
    'published',
    'reward',
    'solved',
    'calls',
    'held-out',
    'accepted',
    'zero variance',
    'refused',
    'loss',
    'KL',
    'gradient',
  ]
  return tableOf(
    columns.map((name) => ({ name, left: name === 'published' })),
    versions.map((version) => [
      `${version.version}${markOf(version)}`,
      timeOf(version.publishedAtMs),
      numberOf(version.reward),
      numberOf(version.solved, 2),
      numberOf(version.calls, 1),
      numberOf(version.heldOut?.reward.mean),
      version.accepted,
      version.zeroVariance,
      version.refused,
      numberOf(version.stats.loss, 4),
      numberOf(version.stats.mismatchKl, 5),
      numberOf(version.stats.gradNorm, 3),
    ]),
  )
}

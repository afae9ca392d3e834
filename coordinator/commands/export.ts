import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { CodedError } from '../../common/errors/index.js'
import { type Scalars, tensorboardFile } from '../../proto/index.js'
import { publicEvent } from '../ledger/public-event.js'
import { NodesTally } from '../report/node-report.js'
import { RunTally } from '../report/run-report.js'
import { csvOf, nodeTable, parquetOf, versionTable } from '../report/run-tables.js'
import type { HeldOutScore, VersionReport } from '../report/version-report.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'

/** The target folder of an export exists already. */
class ExportError extends CodedError<'exists'> {}

export function addExportCommand(program: Command): void {
  withRunOptions(
    program
      .command('export')
      .description('Export a run for other programs: its log without secrets, and tables of versions and keys')
      .argument('<folder>', 'folder to write; must not exist'),
  )
    .option('--tensorboard', 'also write the curves of the versions for TensorBoard', false)
    .action(exportRun)
}

interface ExportOptions extends RunOptions {
  readonly tensorboard: boolean
}

async function exportRun(target: string, options: ExportOptions): Promise<void> {
  const dataDir = dataDirOf(options)
  const folder = resolve(target)
  const draft = join(dirname(folder), `.${basename(folder)}-${process.pid}`)
  await interruptible('nothing was exported', async (signal) => {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(draft)
    try {
      const count = await writeRun(draft, dataDir, options, signal)
      await claim(folder)
      await rename(draft, folder)
      process.stdout.write(
        `${folder} contains ${count} events and tables of versions and keys${options.tensorboard ? '; show the curves with tensorboard --logdir' : ''}\n`,
      )
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  })
}

/** Creates the target folder, so that the rename can replace it. @throws ExportError `exists` */
async function claim(folder: string): Promise<void> {
  await mkdir(folder).catch((cause: unknown) => {
    throw new ExportError('exists', `${folder} exists already. Remove it, or name another folder.`, { cause })
  })
}

async function writeRun(
  folder: string,
  dataDir: string,
  { tensorboard }: ExportOptions,
  signal: AbortSignal,
): Promise<number> {
  const run = new RunTally()
  const nodes = new NodesTally()
  const file = await open(join(folder, 'events.jsonl'), 'wx')
  let count = 0
  try {
    for await (const event of readEvents(dataDir, signal)) {
      run.add(event)
      nodes.add(event)
      await file.write(`${JSON.stringify(publicEvent(event))}\n`)
      count += 1
    }
  } finally {
    await file.close()
  }
  const { versions, startedAtMs } = run.report()
  const tables = { versions: versionTable(versions), nodes: nodeTable(nodes.report(Date.now())) }
  for (const [name, table] of Object.entries(tables)) {
    await writeFile(join(folder, `${name}.csv`), csvOf(table))
    await writeFile(join(folder, `${name}.parquet`), parquetOf(table))
  }
  if (tensorboard) {
    const startedAt = Math.floor((startedAtMs ?? 0) / 1000)
    const curves = tensorboardFile(startedAt, versions.map(scalarsOf))
    await writeFile(join(folder, `events.out.tfevents.${startedAt}.prove`), curves)
  }
  return count
}

const heldOutScalars = (score: HeldOutScore | null): Record<string, number> =>
  score === null
    ? {}
    : { 'heldOut/reward': score.reward.mean, 'heldOut/solved': score.solved.mean, 'heldOut/calls': score.calls }

/** Returns the scalars of a version for TensorBoard. Omits unknown numbers. */
export function scalarsOf(version: VersionReport): Scalars {
  const { reward, solved, calls, accepted, zeroVariance, refused, tokens, staleness, parts, stats, heldOut } = version
  const groups = Object.entries({ accepted, zeroVariance, refused, tokens, staleness })
  const named: [string, number | null][] = [
    ...Object.entries({ reward, solved, calls }).map(([name, value]): [string, number | null] => [
      `policy/${name}`,
      value,
    ]),
    ...Object.entries(parts).map(([name, value]): [string, number] => [`reward/${name}`, value]),
    ...Object.entries(heldOutScalars(heldOut)),
    ...groups.map(([name, value]): [string, number | null] => [`groups/${name}`, value]),
    ...Object.entries(stats).map(([name, value]): [string, number] => [`step/${name}`, value]),
  ]
  return {
    step: version.version,
    wallTime: version.publishedAtMs / 1000,
    values: new Map(named.filter((one): one is [string, number] => one[1] !== null)),
  }
}

import type { Command } from 'commander'
import { ControlError, reachControl } from '../../common/control/index.js'
import { METRICS } from '../service/control-routes.js'
import { dataDirOf, type RunOptions, withRunOptions } from './run-log.js'

export function addMetricsCommand(program: Command): void {
  withRunOptions(
    program
      .command('metrics')
      .description('Print the metrics of a running coordinator, in the text format of Prometheus'),
  ).action(printMetrics)
}

const TIMEOUT_MS = 30_000

async function printMetrics(options: RunOptions): Promise<void> {
  const folder = dataDirOf(options)
  const control = await reachControl(folder, AbortSignal.timeout(TIMEOUT_MS))
  if (!control) throw new ControlError('unreachable', `no coordinator is running on ${folder}: start it first`)
  for await (const line of control.lines(METRICS)) process.stdout.write(`${line}\n`)
}

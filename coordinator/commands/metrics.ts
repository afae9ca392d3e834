import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ControlError, reachControl } from '../service/control-client.js'
import { METRICS } from '../service/control-routes.js'
import { ConfigError, readConfig } from '../settings/config.js'

export function addMetricsCommand(program: Command): void {
  program
    .command('metrics')
    .description('Print the numbers of a running coordinator, in the text format of Prometheus')
    .option('--config <file>', 'run.yaml: names the data folder')
    .option('--data-dir <folder>', 'the data folder, if there is no run.yaml')
    .action(printMetrics)
}

const TIMEOUT_MS = 30_000

async function printMetrics({ config, dataDir }: { config?: string; dataDir?: string }): Promise<void> {
  if ((config === undefined) === (dataDir === undefined))
    throw new ConfigError('metrics: give either --config or --data-dir')
  const folder = config === undefined ? resolve(dataDir!) : readConfig(config).dataDir
  const control = await reachControl(folder, AbortSignal.timeout(TIMEOUT_MS))
  if (!control) throw new ControlError('unreachable', `no coordinator is running on ${folder}`)
  for await (const line of control.lines(METRICS)) process.stdout.write(`${line}\n`)
}

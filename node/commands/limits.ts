import { mkdir } from 'node:fs/promises'
import type { Command } from 'commander'
import { PRIVATE_FOLDER } from '../../common/control/index.js'
import { changed, readChanges, readLimits, writeLimits } from '../limits/limits-file.js'
import { DEFAULTS, LIMIT_FIELDS, type LimitSettings, optionOf } from '../limits/settings.js'
import { LIMITS, type LimitsChanged, limitsChanged } from '../session/routes.js'
import { dataFolder } from './defaults.js'
import { findNode } from './running-node.js'

interface LimitsOptions {
  readonly dataDir: string
  readonly json: boolean
}

/** Adds `prove-node limits`: the resources that the node may use. */
export function addLimitsCommand(program: Command): void {
  const limits = program.command('limits').description('The resources of this machine that the node may use')
  limits
    .command('show', { isDefault: true })
    .description('Show all limits')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--json', 'print JSON on stdout', false)
    .action(async (options: LimitsOptions) => print(await current(options.dataDir), options.json))
  limits
    .command('set')
    .description('Change limits permanently; a running node applies them at once')
    .argument('<change...>', 'such as threads=4 hours=22:00-07:00 mains=on; NAME=none removes a limit')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--json', 'print JSON on stdout', false)
    .action(async (words: string[], { dataDir, json }: LimitsOptions) => {
      print(await change(dataDir, words), json)
    })
}

async function current(dataDir: string): Promise<LimitsChanged> {
  const node = await findNode(dataDir)
  if (node) return limitsChanged.parse(await node.get(LIMITS))
  return { limits: changed(DEFAULTS, await readLimits(dataDir)), notices: [] }
}

/** Sends the changes to a running node, which writes them to its folder. Without one, writes them here. */
async function change(dataDir: string, words: readonly string[]): Promise<LimitsChanged> {
  const changes = readChanges(words)
  const node = await findNode(dataDir)
  if (node) return limitsChanged.parse(await node.post(LIMITS, { changes }))
  const limits = changed(await readLimits(dataDir), changes)
  await mkdir(dataDir, { recursive: true, mode: PRIVATE_FOLDER })
  await writeLimits(dataDir, limits)
  return { limits: changed(DEFAULTS, limits), notices: ['no node is running here: the next start applies the limits'] }
}

function print({ limits, notices }: LimitsChanged, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify({ limits, notices })}\n`)
  else process.stdout.write(`${[...LIMIT_FIELDS.map((field) => line(field, limits)), ...notices].join('\n')}\n`)
}

const NAME_COLUMNS = 16
const VALUE_COLUMNS = 14

const line = ({ name, meaning }: (typeof LIMIT_FIELDS)[number], limits: LimitSettings): string => {
  const value = limits[name]
  const text = value === undefined ? '-' : Array.isArray(value) ? value.join(',') : String(value)
  return `${optionOf(name).padEnd(NAME_COLUMNS)}${text.padEnd(VALUE_COLUMNS)} ${meaning}`
}

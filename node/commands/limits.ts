import { mkdir } from 'node:fs/promises'
import type { Command } from 'commander'
import { PRIVATE_FOLDER } from '../../common/control/index.js'
import { changed, readChanges, readLimits, writeLimits } from '../limits/limits-file.js'
import { DEFAULTS, LIMIT_FIELDS, type LimitSettings } from '../limits/settings.js'
import { LIMITS, type LimitsChanged, limitsChanged } from '../session/routes.js'
import { dataFolder } from './defaults.js'
import { findNode } from './running-node.js'

interface LimitsOptions {
  readonly dataDir: string
  readonly json: boolean
}

/** `prove-node limits`: what the node may have of the machine. */
export function addLimitsCommand(program: Command): void {
  const limits = program.command('limits').description('What the node may have of this machine')
  limits
    .command('show', { isDefault: true })
    .description('Show all limits')
    .option('--data-dir <folder>', 'data directory of the node', dataFolder)
    .option('--json', 'one JSON object on stdout', false)
    .action(async (options: LimitsOptions) => print(await current(options.dataDir), options.json))
  limits
    .command('set')
    .description('Change limits, for good; a node that runs keeps to them at once')
    .argument('<change...>', 'such as threads=4 hours=22:00-07:00 mains=on; NAME=none takes a limit away')
    .option('--data-dir <folder>', 'data directory of the node', dataFolder)
    .option('--json', 'one JSON object on stdout', false)
    .action(async (words: string[], { dataDir, json }: LimitsOptions) => {
      print(await change(dataDir, words), json)
    })
}

async function current(dataDir: string): Promise<LimitsChanged> {
  const node = await findNode(dataDir)
  if (node) return limitsChanged.parse(await node.get(LIMITS))
  return { limits: changed(DEFAULTS, await readLimits(dataDir)), notices: [] }
}

/** A running node is told, and keeps them in its folder; otherwise that is done here. */
async function change(dataDir: string, words: readonly string[]): Promise<LimitsChanged> {
  const changes = readChanges(words)
  const node = await findNode(dataDir)
  if (node) return limitsChanged.parse(await node.post(LIMITS, { changes }))
  const limits = changed(await readLimits(dataDir), changes)
  await mkdir(dataDir, { recursive: true, mode: PRIVATE_FOLDER })
  await writeLimits(dataDir, limits)
  return { limits: changed(DEFAULTS, limits), notices: ['no node is running here: they count from its next start on'] }
}

function print({ limits, notices }: LimitsChanged, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify({ limits, notices })}\n`)
  else process.stdout.write(`${[...LIMIT_FIELDS.map((field) => line(field, limits)), ...notices].join('\n')}\n`)
}

const NAME_COLUMNS = 13
const VALUE_COLUMNS = 14

const line = ({ name, meaning }: (typeof LIMIT_FIELDS)[number], limits: LimitSettings): string => {
  const value = limits[name]
  const text = value === undefined ? '-' : Array.isArray(value) ? value.join(',') : String(value)
  return `${name.padEnd(NAME_COLUMNS)}${text.padEnd(VALUE_COLUMNS)} ${meaning}`
}

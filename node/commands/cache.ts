import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type CachedModel, modelFolder, openModelCache } from '../base/model-cache.js'
import { NodeError } from '../report/errors.js'
import { inBytes } from '../report/in-bytes.js'
import { openNodeStores } from '../store/store.js'
import { dataFolder } from './defaults.js'

/** Adds `prove-node cache`: the fetched base models. */
export function addCacheCommands(program: Command): void {
  const cache = program
    .command('cache')
    .description('List the base models that were fetched for runs')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      for (const line of await listing(dataDir)) process.stdout.write(`${line}\n`)
    })
  cache
    .command('clean')
    .description('Remove base models except the one that was used last')
    .option('--all', 'all of them, also the one that was used last, unless a node is running', false)
    .action(async ({ all }: { all: boolean }) => {
      const { dataDir } = cache.opts<{ dataDir: string }>()
      for (const line of await clean(dataDir, all)) process.stdout.write(`${line}\n`)
    })
}

async function listing(dataDir: string): Promise<string[]> {
  const models = existsSync(modelFolder(dataDir)) ? await (await openModelCache(dataDir)).list() : []
  return models.length === 0 ? [`${modelFolder(dataDir)} contains no base model`] : models.map(lineOf)
}

const lineOf = ({ sha256, name, sizeBytes, whole, usedAtMs }: CachedModel): string =>
  [
    sha256.slice(0, 12),
    inBytes(sizeBytes).padStart(8),
    name,
    ...(usedAtMs > 0 ? [`last used ${new Date(usedAtMs).toISOString()}`] : []),
    ...(whole ? [] : ['unfinished']),
  ].join('  ')

/**
 * Removes base models. Without `all`, the model that was used last stays. The model of a running node always stays: a node records its
 * model at its start, and no other node can start in the same folder, so that model is the one used last.
 */
async function clean(dataDir: string, all: boolean): Promise<string[]> {
  if (!existsSync(modelFolder(dataDir))) return [`${modelFolder(dataDir)} contains no base model`]
  const cache = await openModelCache(dataDir)
  return whileStopped(join(dataDir, 'store'), async (running) => {
    const [last, ...others] = await cache.list()
    const removed = last && all && !running ? [last, ...others] : others
    for (const { sha256 } of removed) await cache.remove(sha256)
    return [
      ...removed.map((model) => `removed  ${lineOf(model)}`),
      ...(last && !removed.includes(last) ? [`kept     ${lineOf(last)}${running ? '  (a node is running)' : ''}`] : []),
    ]
  })
}

/** Calls `work` while no node can start in the folder. @param work  receives whether a node is running */
async function whileStopped<T>(store: string, work: (running: boolean) => Promise<T>): Promise<T> {
  let held: Awaited<ReturnType<typeof openNodeStores>>
  try {
    held = await openNodeStores(store)
  } catch (error) {
    if (!(error instanceof NodeError) || (error.code !== 'in_use' && error.code !== 'nothing_kept')) throw error
    return work(error.code === 'in_use')
  }
  try {
    return await work(false)
  } finally {
    await held.close()
  }
}

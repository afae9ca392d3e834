import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ServerDefinition, WorldDefect } from './kernel/index.js'

/** A folder beside this file is a world unless it is the kernel. */
const KERNEL = 'kernel'
/** `index.js` when built, `index.ts` when run from the sources. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/**
 * Finds the worlds: one folder each, whose `index` exports one server of the folder's name.
 * @throws WorldDefect if a folder holds something else
 */
export async function loadCatalogue(folder: string): Promise<ReadonlyMap<string, ServerDefinition>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory() && entry.name !== KERNEL).map(({ name }) => name)
  const servers = await Promise.all(names.sort().map((name) => loadServer(folder, name)))
  return new Map(servers.map((server) => [server.name, server]))
}

async function loadServer(folder: string, name: string): Promise<ServerDefinition> {
  const path = join(folder, name, `index${EXTENSION}`)
  if (!existsSync(path)) throw new WorldDefect(name, `the folder has no index${EXTENSION}`)
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  const servers = Object.values(module).filter(isServer)
  if (servers.length !== 1) throw new WorldDefect(name, `${path} exports ${servers.length} servers instead of one`)
  if (servers[0]!.name !== name)
    throw new WorldDefect(name, `the server in this folder calls itself ${servers[0]!.name}`)
  return servers[0]!
}

const isServer = (value: unknown): value is ServerDefinition =>
  typeof value === 'object' && value !== null && 'toolsByName' in value

/** Every world of this project, by name, in alphabetical order. */
export const CATALOGUE = await loadCatalogue(import.meta.dirname)

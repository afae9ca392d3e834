import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WorldFolderError } from './authoring/errors.js'
import { loadWorldFolder } from './authoring/load-environment.js'
import { type ServerDefinition, WorldDefect } from './kernel/index.js'

/** A folder beside this file is a world unless it is one of these. */
const NO_WORLDS = ['kernel', 'authoring', 'episodes']
/** `index.js` when built, `index.ts` when run from the sources. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/**
 * Finds the worlds: one folder each, whose `index` exports one server of the folder's name.
 * @throws WorldDefect if a folder holds something else
 */
export async function loadCatalogue(folder: string): Promise<ReadonlyMap<string, ServerDefinition>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isDirectory() && !NO_WORLDS.includes(entry.name))
    .map(({ name }) => name)
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

const worlds = new Map(await loadCatalogue(import.meta.dirname))

/** Every world that this process knows, by name: those of the project, in alphabetical order, then those admitted from outside. */
export const CATALOGUE: ReadonlyMap<string, ServerDefinition> = worlds

const admitted = new Map<string, ServerDefinition>()

/**
 * Takes worlds from outside the project into the catalogue, once for the life of the process: before anything asks for it.
 * @param folders  as the user of the program named them: their code is run
 * @throws WorldFolderError also `name_taken`, for a world or tool that is called like another
 */
export async function admitWorlds(folders: readonly string[]): Promise<ServerDefinition[]> {
  const found: ServerDefinition[] = []
  for (const named of folders) {
    const folder = resolve(named)
    let server = admitted.get(folder)
    if (!server) {
      server = await loadWorldFolder(folder)
      checkNames(server, folder)
      admitted.set(folder, server)
      worlds.set(server.name, server)
    }
    found.push(server)
  }
  return found
}

/** Whether what a user typed where a world is expected is a folder, and not a name: `./library`, `../library`, `/srv/library`. */
export const isWorldFolder = (text: string): boolean => /^\.|[/\\]/.test(text)

/**
 * The worlds of these names, and of these folders.
 * @param named  names of the catalogue, see `isWorldFolder`
 * @throws WorldFolderError
 */
export async function worldsNamed(named: readonly string[]): Promise<ServerDefinition[]> {
  const found: ServerDefinition[] = []
  for (const name of named) found.push(...(isWorldFolder(name) ? await admitWorlds([name]) : [CATALOGUE.get(name)!]))
  return [...new Set(found)]
}

/** A rollout calls tools by their names alone, and a task may offer those of several worlds. */
function checkNames({ name, tools }: ServerDefinition, folder: string): void {
  const taken = (what: string): never => {
    throw new WorldFolderError('name_taken', `${folder}: ${what}. Give it another name.`)
  }
  for (const other of worlds.values()) {
    if (other.name === name) taken(`there is a world ${name} already`)
    const same = tools.find((tool) => other.toolsByName.has(tool.name))
    if (same) taken(`its tool ${same.name} is also one of ${other.name}`)
  }
}

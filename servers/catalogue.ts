import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { EnvironmentFolderError } from './authoring/errors.js'
import { loadEnvironmentFolder } from './authoring/load-environment.js'
import { type Environment, EnvironmentDefect } from './kernel/index.js'

/** A folder beside this file is a world unless it is one of these. */
const NO_ENVIRONMENTS = ['kernel', 'authoring', 'episodes']
/** `index.js` when built, `index.ts` when run from the sources. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/**
 * Finds the worlds: one folder each, whose `index` exports one server of the folder's name.
 * @throws WorldDefect if a folder holds something else
 */
export async function loadCatalogue(folder: string): Promise<ReadonlyMap<string, Environment>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isDirectory() && !NO_ENVIRONMENTS.includes(entry.name))
    .map(({ name }) => name)
  const environments = await Promise.all(names.sort().map((name) => loadEnvironment(folder, name)))
  return new Map(environments.map((environment) => [environment.name, environment]))
}

async function loadEnvironment(folder: string, name: string): Promise<Environment> {
  const path = join(folder, name, `index${EXTENSION}`)
  if (!existsSync(path)) throw new EnvironmentDefect(name, `the folder has no index${EXTENSION}`)
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  const environments = Object.values(module).filter(isEnvironment)
  if (environments.length !== 1)
    throw new EnvironmentDefect(name, `${path} exports ${environments.length} servers instead of one`)
  if (environments[0]!.name !== name)
    throw new EnvironmentDefect(name, `the server in this folder calls itself ${environments[0]!.name}`)
  return environments[0]!
}

const isEnvironment = (value: unknown): value is Environment =>
  typeof value === 'object' && value !== null && 'toolsByName' in value

const environments = new Map(await loadCatalogue(import.meta.dirname))

/** Every world that this process knows, by name: those of the project, in alphabetical order, then those admitted from outside. */
export const CATALOGUE: ReadonlyMap<string, Environment> = environments

const admitted = new Map<string, Environment>()

/**
 * Takes worlds from outside the project into the catalogue, once for the life of the process: before anything asks for it.
 * @param folders  as the user of the program named them: their code is run
 * @throws WorldFolderError also `name_taken`, for a world or tool that is called like another
 */
export async function admitEnvironments(folders: readonly string[]): Promise<Environment[]> {
  const found: Environment[] = []
  for (const named of folders) {
    const folder = resolve(named)
    let environment = admitted.get(folder)
    if (!environment) {
      environment = await loadEnvironmentFolder(folder)
      checkNames(environment, folder)
      admitted.set(folder, environment)
      environments.set(environment.name, environment)
    }
    found.push(environment)
  }
  return found
}

/** Whether what a user typed where a world is expected is a folder, and not a name: `./library`, `../library`, `/srv/library`. */
export const isEnvironmentFolder = (text: string): boolean => /^\.|[/\\]/.test(text)

/**
 * The worlds of these names, and of these folders.
 * @param named  names of the catalogue, see `isWorldFolder`
 * @throws WorldFolderError
 */
export async function environmentsNamed(named: readonly string[]): Promise<Environment[]> {
  const found: Environment[] = []
  for (const name of named)
    found.push(...(isEnvironmentFolder(name) ? await admitEnvironments([name]) : [CATALOGUE.get(name)!]))
  return [...new Set(found)]
}

/** A rollout calls tools by their names alone, and a task may offer those of several worlds. */
function checkNames({ name, tools }: Environment, folder: string): void {
  const taken = (what: string): never => {
    throw new EnvironmentFolderError('name_taken', `${folder}: ${what}. Give it another name.`)
  }
  for (const other of environments.values()) {
    if (other.name === name) taken(`there is a world ${name} already`)
    const same = tools.find((tool) => other.toolsByName.has(tool.name))
    if (same) taken(`its tool ${same.name} is also one of ${other.name}`)
  }
}

import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { EnvironmentFolderError } from './authoring/errors.js'
import { loadEnvironmentFolder } from './authoring/load-environment.js'
import { type Environment, EnvironmentDefect } from './kernel/index.js'

/** Environments by name. */
export type Environments = ReadonlyMap<string, Environment>

/** Every other folder next to this file is an environment. */
const NO_ENVIRONMENTS = ['kernel', 'authoring', 'episodes']
/** `index.js` when built, `index.ts` when run from the sources. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** Environments from outside this package, with their folders. */
const admitted = new Map<string, { readonly folder: string; readonly environment: Environment }>()

/**
 * Returns the names of all environments: those of this package in alphabetical order, then the admitted ones. No environment is loaded.
 */
export const environmentNames = (): string[] => [...namesIn(import.meta.dirname), ...admitted.keys()]

const namesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NO_ENVIRONMENTS.includes(entry.name))
    .map(({ name }) => name)
    .sort()

/**
 * Loads environments. Each one is loaded once per process.
 * @param names  default: all environments of `environmentNames`
 * @returns the environments in the order of `names`
 * @throws EnvironmentFolderError `no_environment` for an unknown name
 * @throws EnvironmentDefect if the folder of an environment contains something else
 */
export async function loadEnvironments(names: readonly string[] = environmentNames()): Promise<Environments> {
  const own = namesIn(import.meta.dirname)
  const environments = names.map((name) => {
    const outside = admitted.get(name)
    if (outside) return outside.environment
    if (own.includes(name)) return loadOwn(import.meta.dirname, name)
    throw new EnvironmentFolderError(
      'no_environment',
      `there is no environment "${name}"; choose from ${environmentNames().join(', ')}`,
    )
  })
  return byName(await Promise.all(environments))
}

/**
 * Loads every environment of a folder that has one subfolder for each.
 * @throws EnvironmentDefect as `loadEnvironments`
 */
export const loadEnvironmentsIn = async (folder: string): Promise<Environments> =>
  byName(await Promise.all(namesIn(folder).map((name) => loadOwn(folder, name))))

const byName = (environments: readonly Environment[]): Environments =>
  new Map(environments.map((environment) => [environment.name, environment]))

async function loadOwn(folder: string, name: string): Promise<Environment> {
  const path = join(folder, name, `index${EXTENSION}`)
  if (!existsSync(path)) throw new EnvironmentDefect(name, `the folder has no index${EXTENSION}`)
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  const environments = Object.values(module).filter(isEnvironment)
  if (environments.length !== 1)
    throw new EnvironmentDefect(name, `${path} exports ${environments.length} environments instead of one`)
  if (environments[0]!.name !== name)
    throw new EnvironmentDefect(name, `the environment in this folder has the name ${environments[0]!.name}`)
  return environments[0]!
}

const isEnvironment = (value: unknown): value is Environment =>
  typeof value === 'object' && value !== null && 'toolsByName' in value

/**
 * Loads environments from outside this package and makes them known under their names, until the process ends.
 * @param folders  folders that the user of the program named: this runs their code
 * @throws EnvironmentFolderError as `loadEnvironmentFolder`, and `name_taken` if another environment has the name or one of the tools
 */
export async function admitEnvironments(folders: readonly string[]): Promise<Environment[]> {
  const found: Environment[] = []
  for (const named of folders) {
    const folder = resolve(named)
    const known = [...admitted.values()].find((one) => one.folder === folder)
    if (known) {
      found.push(known.environment)
      continue
    }
    const environment = await loadEnvironmentFolder(folder)
    await checkNames(environment, folder)
    admitted.set(environment.name, { folder, environment })
    found.push(environment)
  }
  return found
}

/** Returns the folder of an admitted environment, or `undefined` for an environment of this package. */
export const outsideFolder = (name: string): string | undefined => admitted.get(name)?.folder

/** Whether a text that names an environment is a folder and not a name: `./library`, `../library`, `/srv/library`. */
export const isEnvironmentFolder = (text: string): boolean => /^\.|[/\\]/.test(text)

/** Whether a text names an environment: a folder, or one of `environmentNames`. */
export const namesEnvironment = (text: string): boolean =>
  isEnvironmentFolder(text) || environmentNames().includes(text)

/**
 * Loads the environments of these names and folders, each once.
 * @param named  texts for which `namesEnvironment` is true
 * @throws EnvironmentFolderError as `admitEnvironments` and `loadEnvironments`
 */
export async function environmentsNamed(named: readonly string[]): Promise<Environment[]> {
  const found: Environment[] = []
  for (const name of named)
    found.push(
      ...(isEnvironmentFolder(name) ? await admitEnvironments([name]) : (await loadEnvironments([name])).values()),
    )
  return [...new Set(found)]
}

/** A rollout calls a tool by its name alone, and one task may offer the tools of several environments. */
async function checkNames({ name, tools }: Environment, folder: string): Promise<void> {
  const taken = (what: string): never => {
    throw new EnvironmentFolderError('name_taken', `${folder}: ${what}; choose another name`)
  }
  for (const other of (await loadEnvironments()).values()) {
    if (other.name === name) taken(`there is already an environment ${name}`)
    const same = tools.find((tool) => other.toolsByName.has(tool.name))
    if (same) taken(`the environment ${other.name} also has a tool ${same.name}`)
  }
}

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { countOf } from '../../common/errors/index.js'
import { admitEnvironments } from '../catalogue.js'
import { readSpeechFile, SPEECH } from '../load-speech.js'
import { ContractBreach } from './contract/breach.js'
import { environmentContract } from './contract/environment-contract.js'
import type { Provocations } from './contract/failure-checks.js'
import { problemOf } from './load-environment.js'

/** The file of an environment's folder that provokes each failure. It is not part of the environment. */
const PROVOKE = 'provoke.js'

/**
 * Checks an environment from outside this package by the contract of the project's environments.
 * @param folder  an absolute path
 * @param say  receives the lines of the report
 * @returns the number of failed checks
 * @throws EnvironmentFolderError if the environment cannot be loaded
 */
export async function checkEnvironment(folder: string, say: (line: string) => void): Promise<number> {
  const [environment] = await admitEnvironments([folder])
  const checks = environmentContract(environment!, {
    provoke: await provocationsOf(folder),
    speech: () => readSpeechFile(environment!, join(folder, SPEECH)),
  })
  say(
    `${environment!.name}: ${countOf(environment!.tools.length, 'tool')}, ${countOf(Object.keys(environment!.failures).length, 'failure')}, code ${environment!.codeSha256}`,
  )
  let broken = 0
  for (const { name, run } of checks) {
    try {
      run()
      say(`ok    ${name}`)
    } catch (thrown) {
      broken++
      const advice =
        thrown instanceof ContractBreach
          ? thrown.advice
          : 'An exception from the code of an environment is a defect: end a call with fail, unless or rowOf.'
      say(`FAIL  ${name}\n      ${problemOf(thrown, folder)}\n      ${advice}`)
    }
  }
  say(broken === 0 ? `all ${checks.length} checks passed` : `${broken} of ${checks.length} checks failed`)
  return broken
}

/** Returns no provocations if the file is missing: the check of the provocations reports that. */
async function provocationsOf(folder: string): Promise<Provocations> {
  const file = pathToFileURL(join(folder, PROVOKE)).href
  try {
    const { provoke } = (await import(file)) as { provoke?: Provocations }
    return provoke ?? {}
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return {}
    throw error
  }
}

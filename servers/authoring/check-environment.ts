import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { countOf } from '../../common/errors/index.js'
import { admitEnvironments } from '../catalogue.js'
import { readSpeechFile, SPEECH } from '../load-speech.js'
import { ContractBreach } from './contract/breach.js'
import { environmentContract } from './contract/environment-contract.js'
import type { Provocations } from './contract/failure-checks.js'
import { problemOf } from './load-environment.js'

/** The file of a world's folder that shows how each of its failures comes about. It is no part of the world. */
const PROVOKE = 'provoke.js'

/**
 * Checks a world of somebody else by the contract that ours keep.
 * @param folder  an absolute path
 * @param say  takes the lines of a report for people
 * @returns how many checks it did not pass
 * @throws EnvironmentFolderError when it cannot be loaded at all
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
          : 'Whatever a world throws itself is a defect of it: expected failures go through fail, unless and rowOf.'
      say(`FAIL  ${name}\n      ${problemOf(thrown, folder)}\n      ${advice}`)
    }
  }
  say(broken === 0 ? `all ${checks.length} checks passed` : `${broken} of ${checks.length} checks failed`)
  return broken
}

/** None without the file: the check of them says what is missing. */
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

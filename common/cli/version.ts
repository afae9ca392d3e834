import { readFileSync } from 'node:fs'
import { PROTOCOLS } from '../../proto/names.js'
import { packageRoot } from './package-root.js'

interface Package {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

const readPackage = (): Package => JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as Package

/** Returns the version of the package. */
export const packageVersion = (): string => readPackage().version

/** Form of the package's versions: three numbers. */
export const PACKAGE_VERSION = /^\d+\.\d+\.\d+$/

const byNumbers = new Intl.Collator('en', { numeric: true })

/** Tests whether a version of the package is older than another. */
export const isBefore = (version: string, other: string): boolean => byNumbers.compare(version, other) < 0

/** Returns the output of `--version`: the versions of package, protocols and inference engine. */
export function versionText(): string {
  const { version, dependencies } = readPackage()
  const protocols = Object.values(PROTOCOLS).map((protocol) => protocol.replace('/prove/', ''))
  return [version, `protocols ${protocols.join(', ')}`, `engine node-llama-cpp ${dependencies['node-llama-cpp']}`].join(
    '\n',
  )
}

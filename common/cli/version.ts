import { readFileSync } from 'node:fs'
import { PROTOCOLS } from '../../proto/names.js'
import { packageRoot } from './package-root.js'

interface Package {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

const readPackage = (): Package => JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as Package

export const packageVersion = (): string => readPackage().version

/** Versions of the package: three numbers. */
export const PACKAGE_VERSION = /^\d+\.\d+\.\d+$/

const byNumbers = new Intl.Collator('en', { numeric: true })

/** Whether one version of the package came before another. */
export const isBefore = (version: string, other: string): boolean => byNumbers.compare(version, other) < 0

/** What `--version` prints: of the package, of the protocols that it speaks, and of the inference engine. */
export function versionText(): string {
  const { version, dependencies } = readPackage()
  const protocols = Object.values(PROTOCOLS).map((protocol) => protocol.replace('/prove/', ''))
  return [version, `protocols ${protocols.join(', ')}`, `engine node-llama-cpp ${dependencies['node-llama-cpp']}`].join(
    '\n',
  )
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { parse, stringify } from 'yaml'
import { NodeError } from '../report/errors.js'
import { LIMIT_FIELDS, type LimitName, type LimitSettings, limitSettings, optionOf } from './settings.js'

const FILE = 'limits.yaml'
const MAX_CHARS = 64 * 1024
const HEAD = '# Resources of this machine that the node may use. Change them with `prove-node limits`.\n'

/** Reads the limits of a data folder. Without a file, there are no limits. @throws NodeError `bad_limits` */
export async function readLimits(dataDir: string): Promise<LimitSettings> {
  const path = join(dataDir, FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw cause
  }
  if (text.length > MAX_CHARS) throw new NodeError('bad_limits', `${path} has more than ${MAX_CHARS} characters`)
  let content: unknown
  try {
    content = parse(text)
  } catch (cause) {
    throw new NodeError('bad_limits', `${path}: ${(cause as Error).message.split('\n')[0]}`, { cause })
  }
  return parseLimits(content ?? {}, path)
}

/** Writes the limits to a data folder. @throws the system's error */
export async function writeLimits(dataDir: string, settings: LimitSettings): Promise<void> {
  const body = Object.keys(settings).length === 0 ? '' : stringify(settings)
  await writeFileAtomic(join(dataDir, FILE), `${HEAD}${body}`, { mode: 0o600 })
}

/** Checks limits. @param where  origin of the limits, for the error. @throws NodeError `bad_limits` */
export function parseLimits(content: unknown, where: string): LimitSettings {
  const parsed = limitSettings.safeParse(content)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  const name = issue.path[0]
  const found = LIMIT_FIELDS.find((one) => one.name === name)
  if (!found) throw new NodeError('bad_limits', `${where}: ${issue.message}. The limits are ${names()}`)
  throw new NodeError('bad_limits', `${where}: ${found.name}: give ${found.expects}`)
}

/** The value that removes a limit. */
const NONE = 'none'

/**
 * Parses changes of the command line: `threads=2`, `hours=none`.
 * @returns each limit with its new value, null to remove it
 * @throws NodeError `bad_limits`
 */
export function readChanges(words: readonly string[]): LimitChanges {
  const changes: Partial<Record<LimitName, unknown>> = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const found = LIMIT_FIELDS.find(({ name }) => optionOf(name) === word.slice(0, at))
    if (at < 0 || !found)
      throw new NodeError('bad_limits', `${word}: give NAME=VALUE, where NAME is one of ${options()}`)
    const text = word.slice(at + 1)
    const { name } = found
    const removed = text === NONE && name !== 'gpu'
    changes[name] = removed ? null : parseLimits({ [name]: found.read(text) }, word)[name]
  }
  return changes as LimitChanges
}

/** Limits with their new values; null removes a limit. */
export type LimitChanges = { readonly [N in LimitName]?: LimitSettings[N] | null }

/** Applies changes to limits. */
export function changed(settings: LimitSettings, changes: LimitChanges): LimitSettings {
  const entries = Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as LimitSettings
}

const options = (): string => LIMIT_FIELDS.map(({ name }) => optionOf(name)).join(', ')
const names = (): string => LIMIT_FIELDS.map(({ name }) => name).join(', ')

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { parse, stringify } from 'yaml'
import { NodeError } from '../report/errors.js'
import { LIMIT_FIELDS, type LimitName, type LimitSettings, limitSettings } from './settings.js'

const FILE = 'limits.yaml'
const MAX_CHARS = 64 * 1024
const HEAD = '# What the node may have of this machine. `prove-node limits` shows and changes it.\n'

/** The limits that a data folder keeps; none without a file. @throws NodeError `bad_limits` */
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

/** @throws the system's error */
export async function writeLimits(dataDir: string, settings: LimitSettings): Promise<void> {
  const body = Object.keys(settings).length === 0 ? '' : stringify(settings)
  await writeFileAtomic(join(dataDir, FILE), `${HEAD}${body}`, { mode: 0o600 })
}

/** @param where  named in the error. @throws NodeError `bad_limits` */
export function parseLimits(content: unknown, where: string): LimitSettings {
  const parsed = limitSettings.safeParse(content)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  const name = issue.path[0]
  const found = LIMIT_FIELDS.find((one) => one.name === name)
  if (!found) throw new NodeError('bad_limits', `${where}: ${issue.message}; there are ${names()}`)
  throw new NodeError('bad_limits', `${where}: ${found.name}: give ${found.expects}`)
}

/** What takes a limit away. */
const NONE = 'none'

/**
 * Changes as the command line has them: `threads=2`, `hours=none`.
 * @returns  each limit with its new value, null for one that is taken away
 * @throws NodeError `bad_limits`
 */
export function readChanges(words: readonly string[]): LimitChanges {
  const changes: Partial<Record<LimitName, unknown>> = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const found = LIMIT_FIELDS.find(({ name }) => name === word.slice(0, at))
    if (at < 0 || !found) throw new NodeError('bad_limits', `${word}: give NAME=VALUE, where NAME is one of ${names()}`)
    const text = word.slice(at + 1)
    const { name } = found
    const removed = text === NONE && name !== 'gpu'
    changes[name] = removed ? null : parseLimits({ [name]: found.read(text) }, word)[name]
  }
  return changes as LimitChanges
}

export type LimitChanges = { readonly [N in LimitName]?: LimitSettings[N] | null }

/** The limits with their changes. */
export function changed(settings: LimitSettings, changes: LimitChanges): LimitSettings {
  const entries = Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as LimitSettings
}

const names = (): string => LIMIT_FIELDS.map(({ name }) => name).join(', ')

import { EpisodeError } from '../errors.js'
import type { Dialect } from '../tool-call-format.js'
import { GRANITE } from './granite.js'
import { HERMES, HERMES_NO_THINKING, HERMES_THINKING } from './hermes.js'

/** Every dialect that this version speaks, by name. */
export const DIALECTS: ReadonlyMap<string, Dialect> = new Map(
  [HERMES, HERMES_THINKING, HERMES_NO_THINKING, GRANITE].map((dialect) => [dialect.name, dialect]),
)

/** @throws EpisodeError `unknown_dialect`, which lists the known ones */
export function dialectNamed(name: string): Dialect {
  const dialect = DIALECTS.get(name)
  if (!dialect) {
    const known = [...DIALECTS.keys()].join(', ')
    throw new EpisodeError('unknown_dialect', `nobody here speaks ${name}; known are ${known}`)
  }
  return dialect
}

import { descriptionOf, speechOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import type { Ask } from './speech.js'

const PREPOSITION = 'to|of|in|for|on|as|from|with'
const DESCRIBED = /^(?:The|[^.;,]* (?:of|for) the)(?: new)? ([a-z]+)(?=[.;,]|$)/
const AIMED_AT = new RegExp(`\\b(?:a|an) (?:[a-z]+ )*?([a-z]+)(?= (?:${PREPOSITION})\\b|$)`)

/**
 * What a call writes or gives a name, as people call it: `reply`, `archive`. By the description of the argument, or else by what the call is for.
 * @returns `undefined` where neither names one
 */
export function thingMade({ environment, tool }: Pick<Ask, 'environment' | 'tool'>, field: string): string | undefined {
  const described = descriptionOf(tool.input.shape[field]!) ?? ''
  // That is a name somebody has.
  if (/^(?:Full|First and last) name\b/.test(described) && !/^add /.test(goalOf(environment, tool))) return undefined
  return DESCRIBED.exec(described)?.[1] ?? AIMED_AT.exec(goalOf(environment, tool))?.[1]
}

const goalOf = (environment: Ask['environment'], tool: ToolDefinition): string =>
  speechOf({ environment, tool }).goal ?? ''

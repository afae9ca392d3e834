import { descriptionOf, speechOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import type { Ask } from './speech.js'

const PREPOSITION = 'to|of|in|for|on|as|from|with'
const DESCRIBED = /^(?:The|[^.;,]* (?:of|for) the)(?: new)? ([a-z]+)(?=[.;,]|$)/
const AIMED_AT = new RegExp(`\\b(?:a|an) (?:[a-z]+ )*?([a-z]+)(?= (?:${PREPOSITION})\\b|$)`)

/**
 * Returns the word for the thing that a call writes or names, as people call it: `reply`, `archive`. The word is from the description of
 * the argument, or else from the purpose of the call.
 * @returns `undefined` where neither names one
 */
export function thingMade({ environment, tool }: Pick<Ask, 'environment' | 'tool'>, field: string): string | undefined {
  const described = descriptionOf(itemAt(tool.input.shape, field)) ?? ''
  // That is a name somebody has.
  if (/^(?:Full|First and last) name\b/.test(described) && !/^add /.test(goalOf(environment, tool))) return undefined
  return DESCRIBED.exec(described)?.[1] ?? AIMED_AT.exec(goalOf(environment, tool))?.[1]
}

const goalOf = (environment: Ask['environment'], tool: ToolDefinition): string =>
  speechOf({ environment, tool }).goal ?? ''

import type { Environment } from '../define-environment.js'
import { SESSION_START } from '../session.js'

/** `send_payment` as `Send payment`: what clients show to people in place of a tool's name. */
export const titleOf = (tool: string): string => `${tool[0]!.toUpperCase()}${tool.slice(1).replaceAll('_', ' ')}`

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(new Date(SESSION_START))

/**
 * Returns the text from which a client's model learns about the environments. It says what they are, what day it is there, and how time
 * passes. For a single environment, it also contains the rules that calls can fail by. The text is not part of the prompts with which
 * this project trains policies.
 */
export function instructionsOf(environments: readonly Environment[]): string {
  const [only] = environments
  const isAlone = environments.length === 1
  return [
    isAlone
      ? `${only!.title}: ${only!.description}`
      : `${environments.length} environments:\n${environments.map(({ title, description }) => `- ${title}: ${description}`).join('\n')}`,
    `It is ${WEEKDAY}, ${SESSION_START} when a session begins, and a minute later after each call that changes something. Dates are YYYY-MM-DD.`,
    'A call that fails changes nothing, and says why as {"error": code, "message": text}.',
    ...(isAlone ? [`It can fail with:\n${rulesOf(only!)}`] : []),
  ].join('\n\n')
}

const rulesOf = ({ failures }: Environment): string =>
  Object.entries(failures)
    .map(([code, message]) => `- ${code}: ${message}`)
    .join('\n')

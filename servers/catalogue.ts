import { banking } from './banking/index.js'
import { calendar } from './calendar/index.js'
import { email } from './email/index.js'
import { issueTracker } from './issue_tracker/index.js'
import type { ServerDefinition } from './kernel/index.js'

/** Every world of this project, by name. */
export const CATALOGUE: ReadonlyMap<string, ServerDefinition> = new Map(
  [banking, calendar, email, issueTracker].map((server) => [server.name, server]),
)

import type { Script, Withheld } from './conversation-script.js'
import type { Step } from './walk.js'

/** The script of one request for everything at once, which no call follows. @param withheld  a value that it leaves out */
export function askForAll(steps: readonly Step[], withheld?: Withheld): Script {
  const asks = [...steps.keys()]
  return {
    turns: [{ says: 'request', asks, steps: [], ...(withheld ? { withheld } : {}) }],
    information: withheld ? 'missing' : 'complete',
    recovery: null,
    silent: new Set(),
  }
}

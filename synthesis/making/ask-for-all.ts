import type { SeededRandom } from '../../servers/kernel/index.js'
import { unresolvedIn } from '../resolving/unresolved.js'
import type { Script, Withheld } from './conversation-script.js'
import type { SynthesisContext } from './synthesis-context.js'
import { tellReferences } from './tell-references.js'
import type { Step } from './walk.js'
import { callOf, type Worded } from './word-conversation.js'

/**
 * The script of one request for everything at once, which no call follows.
 * @param withheld  a value that it leaves out
 * @returns `null` when it cannot be asked for at once, because something can only be meant by what is found first
 */
export function askForAll(walked: readonly Step[], random: SeededRandom, withheld?: Withheld): Script | null {
  const asks = [...walked.keys()]
  const steps = tellReferences(walked, [asks], true, random)
  return (
    steps && {
      steps,
      turns: [{ says: 'request', asks, steps: [], ...(withheld ? { withheld } : {}) }],
      information: withheld ? 'missing' : 'complete',
      recovery: null,
      silent: new Set(),
    }
  )
}

/** Whether a listener would understand the request if its calls could be made. */
export function isUnderstood(
  { steps }: Script,
  { exchanges, origins }: Worded,
  { profile, catalogue }: SynthesisContext,
): boolean {
  const calls = steps.map(callOf)
  const groundTruth = steps.map(({ tool, args }) => ({ name: tool.name, arguments: args }))
  const asked = { exchanges: [{ ...exchanges[0]!, calls }], speech: profile.speech, origins, task: { groundTruth } }
  return unresolvedIn(asked, catalogue).length === 0
}

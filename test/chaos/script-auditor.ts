import type { Auditor } from '../../coordinator/intake/auditor.js'
import { turnSeeds } from '../../rollout/episode/index.js'
import type { Clock } from '../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../support/audit-groups.js'
import { AMPLE } from '../support/scripted.js'
import { scriptOf, taskOfPrompt, tokenizer } from './script-policy.js'

/** How long an audit takes. */
const AUDIT_MS = 400

/** Audits by saying the script again: the tokens of a rollout must be those of its lease's seeds under the lease's adapter. */
export function createScriptAuditor(clock: Clock): Auditor {
  const auditor: Auditor = {
    isBehind: false,
    async audit({ leaseSeed, rollouts, adapterSha256 }) {
      await clock.sleep(AUDIT_MS)
      for (const [slot, { tokens, mask }] of rollouts.entries()) {
        const [seed] = turnSeeds(leaseSeed, slot, AMPLE)
        const script = scriptOf(adapterSha256, taskOfPrompt([...tokens]), slot, seed!)
        const said = tokenizer.detokenize([...tokens].filter((_, i) => mask[i] === 1)).replaceAll('<|im_end|>', '')
        if (said !== script.join(''))
          return { accepted: false, code: 'sampler_mismatch', detail: `rollout ${slot} is not what its seeds select` }
      }
      return { accepted: true, logitErrors: NO_LOGIT_ERRORS }
    },
    auditBatch: (_, requests) => Promise.all(requests.map((request) => auditor.audit(request))),
  }
  return auditor
}

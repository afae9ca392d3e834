import { type GossipEffect, REFUSALS, type RefusalCode, type RefusalConsequence } from '../../proto/index.js'
import { CHECKS, type CheckCode, type CheckNumber, checkOf } from './checks.js'

/** Places of refusals that belong to no check. */
type Elsewhere = 'any message' | 'manifest' | 'request' | 'lease request' | 'zero-variance group'

interface Part {
  readonly title: string
  /** Numbers of checks, and other places. */
  readonly places: readonly (CheckNumber | Elsewhere)[]
  /** Advice for volunteers. */
  readonly advice: string
}

const PARTS: readonly Part[] = [
  {
    title: 'No work at the moment',
    places: ['lease request'],
    advice:
      'These codes answer a request for leases. At `complete` a node ends, unless it was started with `--stay`. Otherwise it asks again automatically: `no_work`, `not_registered`, `influence_cap` and `too_many_leases` need no action. For `uncalibrated`, ask the operator for a calibration of your backend, or start the node with `--cpu` if the CPU has one. For `quarantined`, look at your verdicts: a provable fault, several failed audits, or the sum of small choices led to it. After an exclusion only a new key gets work, unless the operator restores the reputation of the key. For `too_slow`, let the node use more threads or a GPU (`prove-node limits`, `prove-node doctor`), or join a run with a smaller model. Meanwhile the node still serves adapters, and with `--mirror` everything that is published, and `prove-node verify-group` still verifies its own groups. After six hours it measures its speed again. For `paused` no action is needed: the node resumes when the operator ends the pause. `banned` is the operator’s decision, and also the verdict on groups in progress: ask the operator.',
  },
  {
    title: 'Messages and announcements',
    places: ['any message', 'manifest', 'request', 0],
    advice:
      'The group was not verified yet. Late or repeated messages are dropped without consequence: a slow machine gets `lease_expired` and `stale_policy`, which are rarer with more threads or a GPU. A malformed message was sent by another program or another version: update the node.',
  },
  {
    title: 'The group differs from its replay',
    places: [1, 2, 3],
    advice:
      'The coordinator repeated every call and rebuilt every token, without tolerance. An honest node of the same version never gets these codes, so one of them is final for the key. Update the node, check that its environments are unchanged, and run `prove-node verify-group`, which repeats the comparison on your machine. If it finds the fault too, fix it and start again with a new data directory. If it passes, appeal: send the lease to the operator, who has your signed announcement and the body as proof (`evidence/`) and can repeat the comparison. `environment_nondeterministic` is not the node’s fault: the tasks of that environment are disabled.',
  },
  {
    title: 'The work is not new',
    places: [4],
    advice:
      'Long completions of another group were submitted again. Copied work cannot be distinguished from one key on two machines with a copied data directory: give every machine its own data directory.',
  },
  {
    title: 'The numbers do not fit the policy',
    places: [5, 6, 7],
    advice:
      'An audit recomputed the log-probabilities under the announced policy and replayed the draws. Its thresholds hardly ever refuse honest work. A single refusal only causes closer audits, until 200 audits have passed for each. If it happens again, run `prove-node verify-group --calibration FILE` with the run’s calibration: it shows other drivers, a faulty GPU or another model file. A later audit can revoke an accepted group, which then loses its credit.',
  },
  {
    title: 'Groups accepted without their body',
    places: ['zero-variance group'],
    advice:
      'The coordinator accepts a zero-variance group without its body, unless the group is drawn for verification. Keep the node running and connected until its groups have their verdicts: if a drawn body does not arrive before the deadline, the coordinator no longer trusts the node’s unverified groups since the last verified one. The same happens after any other refused group. An unverified group earns no credit.',
  },
]

/** Codes that belong to no check. A code that is neither here nor in the table of checks is a compile error. */
export const ELSEWHERE: Readonly<Record<Exclude<RefusalCode, CheckCode>, Elsewhere>> = {
  bad_signature: 'any message',
  wrong_signer: 'any message',
  wrong_run: 'any message',
  expired: 'any message',
  rate_limited: 'any message',
  overloaded: 'any message',
  internal: 'any message',
  policy_id_mismatch: 'manifest',
  stale_manifest: 'manifest',
  chunk_mismatch: 'manifest',
  not_found: 'request',
  influence_cap: 'lease request',
  no_work: 'lease request',
  complete: 'lease request',
  paused: 'lease request',
  banned: 'lease request',
  wrong_policy: 'lease request',
  quarantined: 'lease request',
  not_registered: 'lease request',
  uncalibrated: 'lease request',
  too_many_leases: 'lease request',
  too_slow: 'lease request',
  body_withheld: 'zero-variance group',
  unconfirmed: 'zero-variance group',
}
/** Codes of a check with which any other message can be refused too. */
const ANY_MESSAGE: readonly RefusalCode[] = ['too_large', 'malformed']

/** Returns the part of the document for a code, and the text in its column `where`. */
function placeOf(code: RefusalCode): { readonly at: CheckNumber | Elsewhere; readonly where: string } {
  const check = checkOf(code)
  if (!check) {
    const at = ELSEWHERE[code as keyof typeof ELSEWHERE]
    return { at, where: at }
  }
  const where = `${check.number} ${check.name}`
  return ANY_MESSAGE.includes(code)
    ? { at: 'any message', where: `any message, ${where}` }
    : { at: check.number, where }
}

const SCORE: Readonly<Record<GossipEffect, string>> = { ignore: 'no', reject: 'yes' }
const CONSEQUENCE: Readonly<Record<RefusalConsequence, string>> = {
  none: '-',
  audits: 'closer audits',
  quarantine: 'quarantine',
  exclusion: 'exclusion',
}

/** Renders `docs/reference/verdicts.md`, which explains every refusal code to volunteers. */
export function describeRefusals(): string {
  return `${[HEAD, ...PARTS.map(describePart)].join('\n\n')}\n`
}

const HEAD = `# Verdicts and refusals

\`npm run docs\` writes this page from \`proto/errors.ts\` and \`rollout/verification/checks.ts\`. [protocol.md](protocol.md#verification), "Verification", describes the checks.

A node prints every verdict with its code, the meaning of the code, the coordinator's detail, and the consequence.
\`prove-node verdicts\` lists all verdicts later, and \`prove-node verify-group\` verifies the last group again on your machine, with the same code.

*Gossip score*: such a message lowers the sender's score at its neighbours, until they ignore the sender. *Consequence* of a refused group:
*closer audits*, more of the node's groups are recomputed; *quarantine*, no leases for an hour, the second time for a day, and the third time for
good; *exclusion*, no more leases for the key after a provable lie. More failed audits than chance explains cause a quarantine too
([protocol.md](protocol.md#consequences), "Consequences").`

function describePart({ title, places, advice }: Part): string {
  const rows = Object.entries(REFUSALS).flatMap(([code, { effect, consequence, meaning }]) => {
    const { at, where } = placeOf(code as RefusalCode)
    if (!places.includes(at)) return []
    return [`| \`${code}\` | ${where} | ${meaning} | ${SCORE[effect]} | ${CONSEQUENCE[consequence]} |`]
  })
  return [
    `## ${title}`,
    '',
    advice,
    '',
    '| code | where | meaning | gossip score | consequence |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

/** Renders the rows of the table of checks in `docs/reference/protocol.md`. */
export function describeChecks(): string[] {
  return CHECKS.map(({ number, name, check, refusals, forwardPass }) => {
    const codes = refusals.map((code) => `\`${code}\``).join(', ')
    return `| ${number} ${name} | ${check} | ${codes} | ${forwardPass ? 'audited' : 'all'} |`
  })
}

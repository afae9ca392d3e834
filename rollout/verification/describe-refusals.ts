import { type GossipEffect, REFUSALS, type RefusalCode, type RefusalConsequence } from '../../proto/index.js'
import { CHECKS, type CheckCode, type CheckNumber, checkOf } from './checks.js'

/** Where a message or a request meets a refusal that is no stage's, or a group one that no stage decides. */
type Elsewhere = 'any message' | 'manifest' | 'request' | 'lease request' | 'flat group'

interface Part {
  readonly title: string
  /** Stages by number, and other places. */
  readonly places: readonly (CheckNumber | Elsewhere)[]
  /** What a volunteer can do about it. */
  readonly advice: string
}

const PARTS: readonly Part[] = [
  {
    title: 'No work at the moment',
    places: ['lease request'],
    advice:
      'The answer to a request for leases. At `complete` a node ends, unless it was started with `--stay`. Otherwise it asks again by itself; `no_work`, `not_registered`, `influence_cap` and `too_many_leases` need nothing from you. For `uncalibrated`, ask the operator for a calibration of your backend, or start the node with `--cpu` if the CPU has one. For `quarantined`, look at your verdicts: one of them, several failed audits, or small choices that add up led to it; after an exclusion only a new key gets work again, or the operator, who can give a key its standing back. For `too_slow`, let the node use more threads or a GPU (`prove-node limits`, `prove-node doctor`), or look for a run with a smaller model; meanwhile it goes on serving adapters, everything that is published with `--mirror`, and `prove-node verify` judges its own groups; after six hours it measures itself again. For `paused` there is nothing to do: the node works on by itself when the operator says so. `banned` is the operator’s decision, and a verdict too, on groups that were under way: ask who runs the run.',
  },
  {
    title: 'Messages and announcements',
    places: ['any message', 'manifest', 'request', 0],
    advice:
      'Nothing was judged yet. What is late or already known is dropped and costs nothing: a slow machine gets `lease_expired` and `stale_policy`, which more threads or a GPU make rarer. A form that is wrong comes from another program or another version: update the node.',
  },
  {
    title: 'The group differs from its replay',
    places: [1, 2, 3],
    advice:
      'The coordinator has repeated every call and rebuilt every token, with no tolerance. An honest node of the same version never meets these, so one of them is final for the key. Update the node, check that its worlds are unchanged, and run `prove-node verify`: it repeats the same comparison at home. If it finds the fault too, mend it and begin anew with another data directory. If it passes there, appeal: name the lease to the operator, who has kept your signed announcement and the body as proof (`evidence/`) and can repeat the comparison with it. `environment_nondeterministic` is nobody’s lie: that world gets no more tasks.',
  },
  {
    title: 'The work is not new',
    places: [4],
    advice:
      'Long completions of another group were handed in again. Copied work and one key used by two machines from a copied data directory look alike: give every machine its own data directory.',
  },
  {
    title: 'The numbers do not fit the policy',
    places: [5, 6, 7],
    advice:
      'An audit has recomputed the log-probabilities under the announced policy and replayed the draws. It has thresholds and hardly ever refuses honest work; single cases bring closer audits only, until 200 audits have passed for each. If it happens again, run `prove-node verify --calibration FILE` with the run’s calibration: other drivers, a faulty GPU or another model file show there. An accepted group can be revoked by a later audit; its credit then goes.',
  },
  {
    title: 'What was taken on trust',
    places: ['flat group'],
    advice:
      'A group without reward variance is believed without its body, unless it is drawn for a closer look. Keep the node running and connected until its groups have their verdicts: a drawn body that does not come before the deadline puts the node’s word in doubt. Its unseen groups since the last one that was seen are then no longer believed, as after any other doubtful group. An unseen group earns no credit.',
  },
]

/** Codes of no stage: a code that is neither here nor in the table does not compile. */
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
  body_withheld: 'flat group',
  unconfirmed: 'flat group',
}
/** Codes of a stage that any other message can be turned down with too. */
const ANY_MESSAGE: readonly RefusalCode[] = ['too_large', 'malformed']

/** Where a code stands in the document, and what its row says about that. */
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

/** `docs/verdicts.md`: every reason for a refusal, for volunteers. */
export function describeRefusals(): string {
  return `${[HEAD, ...PARTS.map(describePart)].join('\n\n')}\n`
}

const HEAD = `# Verdicts and refusals

Written by \`npm run docs\` from \`proto/errors.ts\` and \`rollout/verification/checks.ts\`. How a group is judged is in [protocol.md](protocol.md), "Judging".

A node prints every verdict with its code, what the code means, the coordinator's own detail, and the consequence.
\`prove-node verdicts\` lists them all later, and \`prove-node verify\` judges the last group again at home, with the same code.

*Gossip score*: the sender of such a message is listened to less by its neighbours, until nobody listens to it. *Consequence*, of a group
that is refused so: *closer audits*, more of the node's groups are recomputed; *quarantine*, no leases for an hour, a day the second time, and for good the
third time; *exclusion*, a provable lie: no leases for the key any more. Failed audits beyond chance bring a quarantine too
([protocol.md](protocol.md), "Judging").`

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

/** Rows of the table of stages in `docs/protocol.md`. */
export function describeChecks(): string[] {
  return CHECKS.map(({ number, name, check, refusals, forwardPass }) => {
    const codes = refusals.map((code) => `\`${code}\``).join(', ')
    return `| ${number} ${name} | ${check} | ${codes} | ${forwardPass ? 'audited' : 'all'} |`
  })
}

import { type GossipEffect, REFUSALS, type RefusalCode, type RefusalConsequence } from '../../proto/index.js'
import { CHECKS, type CheckCode, type CheckNumber, checkOf } from './checks.js'

/** Places of refusals that belong to no check. */
type Elsewhere = 'any message' | 'manifest' | 'request' | 'lease request' | 'zero-variance group'

interface Part {
  readonly title: string
  /** Numbers of checks, and other places. */
  readonly places: readonly (CheckNumber | Elsewhere)[]
  /** Advice for volunteers, in Markdown. */
  readonly advice: string
}

const PARTS: readonly Part[] = [
  {
    title: 'No work at the moment',
    places: ['lease request'],
    advice: `These codes answer a request for work, and have no consequence. A node ends at \`complete\`, unless it was started with \`--stay\`. Otherwise it asks again automatically, and most codes need no action. The others:

- **\`uncalibrated\`**: ask the operator for a calibration of your inference backend, or start the node with \`--cpu\`.
- **\`too_slow\`**: give the node more threads or a GPU (\`prove-node limits\`, \`prove-node doctor\`), or join a run of a smaller model. Meanwhile the node serves adapters. It measures its speed again after six hours.
- **\`quarantined\`**: look at your verdicts, which name the faults. A permanent quarantine ends only if the operator restores the key.
- **\`banned\`**: ask the operator, who decided this. Groups in progress get the same code.`,
  },
  {
    title: 'Messages and announcements',
    places: ['any message', 'manifest', 'request', 0],
    advice: `The coordinator or another peer rejected a message before the verification of a group.

- **\`lease_expired\`, \`stale_policy\`**: the machine was too slow for this group. More threads or a GPU make these codes rarer. They have no consequence.
- **\`malformed\`, \`too_large\`**: another program or another version sent the message. Update the node.`,
  },
  {
    title: 'The group differs from its replay',
    places: [1, 2, 3],
    advice: `The coordinator repeated every call, rebuilt every token, and found a difference. An honest node of the same version never gets these codes, so the key is excluded. The exception is \`environment_nondeterministic\`: the fault is in the environment, and the coordinator disables it.

1. Update the node, and check that its environments are unchanged.
2. Run \`prove-node verify-group\`, which repeats the comparison on your machine.
3. If the command finds the fault too, correct it and join with a new data directory.
4. If the command finds no fault, send the lease to the operator as an appeal. The operator has your signed announcement and the body as proof, and can repeat the comparison.`,
  },
  {
    title: 'The work is not new',
    places: [4],
    advice:
      'Long completions of the group are in an earlier group of the same task. A common cause is one data directory on two machines. Give every machine a separate data directory.',
  },
  {
    title: 'The numbers do not fit the policy',
    places: [5, 6, 7],
    advice: `An audit recomputed the log-probabilities and samples of the group. Honest work rarely fails an audit by chance, so one failure only causes closer audits. They end after 200 passed audits for each failure.

If such a code repeats, run \`prove-node verify-group --calibration FILE\` with the calibration of the run. Typical causes are another driver, a faulty GPU or another model file. A later audit can also withdraw an accepted group with its credit.`,
  },
  {
    title: 'Groups accepted without their body',
    places: ['zero-variance group'],
    advice: `The *body* of a group is its tokens and calls. The coordinator accepts a group with equal rewards without its body and without credit, unless it selects the group for an audit.

Keep the node connected until its groups have their verdicts. If a selected body does not arrive before the deadline, the coordinator no longer trusts the node. It withdraws the groups that it accepted without a body since the node's last verified group. The same happens after any other rejected group with a consequence.`,
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

This page explains to volunteers the codes with which the coordinator rejects a group (a *verdict*) or a request (a *refusal*). \`npm run docs\` writes it from \`proto/errors.ts\` and \`rollout/verification/\`.

A node prints every verdict with its code and the consequence. \`prove-node verdicts\` lists all of them later. \`prove-node verify-group\` repeats the coordinator's checks of the last group on your machine.

In the tables, *where* names the message, or the [verification check](protocol.md#verification) with its number. *Gossip score* is \`yes\` if the message lowers the sender's score at other peers, which ignore senders with a low score.

| consequence | meaning |
| --- | --- |
| closer audits | the coordinator recomputes more of the node's groups. If more audits fail than chance explains, a quarantine follows |
| quarantine | the key gets no leases (work) for an hour, the second time for a day, the third time permanently |
| exclusion | the key gets no more leases, because it signed something that no honest node can produce |

[Consequences](protocol.md#consequences) has further rules.`

function describePart({ title, places, advice }: Part): string {
  const codes = Object.entries(REFUSALS).flatMap(([name, row]) => {
    const { at, where } = placeOf(name as RefusalCode)
    return places.includes(at) ? [{ code: `\`${name}\``, where, ...row }] : []
  })
  const isPlain = codes.every(
    ({ where, effect, consequence }) => where === 'lease request' && effect === 'ignore' && consequence === 'none',
  )
  const table = isPlain
    ? ['| code | meaning |', '| --- | --- |', ...codes.map(({ code, meaning }) => `| ${code} | ${meaning} |`)]
    : [
        '| code | where | meaning | gossip score | consequence |',
        '| --- | --- | --- | --- | --- |',
        ...codes.map(
          ({ code, where, meaning, effect, consequence }) =>
            `| ${code} | ${where} | ${meaning} | ${SCORE[effect]} | ${CONSEQUENCE[consequence]} |`,
        ),
      ]
  return [`## ${title}`, '', advice, '', ...table].join('\n')
}

/** Renders the rows of the table of checks in `docs/reference/protocol.md`. */
export function describeChecks(): string[] {
  return CHECKS.map(({ number, name, check, refusals, forwardPass }) => {
    const codes = refusals.map((code) => `\`${code}\``).join(', ')
    return `| ${number} ${name} | ${check} | ${codes} | ${forwardPass ? 'audited' : 'all'} |`
  })
}

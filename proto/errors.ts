import { CodedError } from '../common/errors/index.js'
import { LIMITS } from './limits.js'

/** What a refusal does to its sender in gossip: `reject` lowers the sender's score, `ignore` only drops the message. */
export type GossipEffect = 'ignore' | 'reject'

/**
 * What the refusal of a group does to its author: `audits`, its groups are looked at more closely; `quarantine`, it gets no
 * leases for a while, which a copied data directory earns as well as a thief; `exclusion`, it gets none any more, because it has
 * signed what no honest node can make.
 */
export type RefusalConsequence = 'none' | 'audits' | 'quarantine' | 'exclusion'

interface RefusalRow {
  readonly effect: GossipEffect
  readonly consequence: RefusalConsequence
  /** One sentence for the volunteer whose work it was. */
  readonly meaning: string
}

const ignore = (meaning: string): RefusalRow => ({ effect: 'ignore', consequence: 'none', meaning })
const reject = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'none', meaning })
/** Numbers that hardly ever come from honest work, but may. */
const doubt = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'audits', meaning })
/** A group that is not its author's own, by intent or by mishap. */
const copy = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'quarantine', meaning })
/** A group that no honest node makes: recomputed without tolerance, it comes out otherwise. */
const lie = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'exclusion', meaning })

/**
 * Every reason for which a message, a request or a group is turned down, with its usual consequence. `reject` is kept
 * for what cannot come from an honest node: a laggard, a restarted node and our own bugs must cost nobody a score.
 */
export const REFUSALS = {
  too_large: lie('The message or one of its fields is larger than the limit table allows.'),
  malformed: lie('The bytes are not a message of this protocol version, or a field has a form that it may not have.'),
  bad_signature: reject('The signature does not fit the content and the key.'),
  wrong_signer: reject('The message is signed by a key that may not say this.'),
  wrong_run: reject('The message belongs to another run.'),
  policy_id_mismatch: reject('The policy id is not the hash of the policy that is described.'),
  body_mismatch: lie('The body is not what its announcement says: other hash, size, lease, task or policy.'),
  chunk_mismatch: reject('A chunk does not have the hash that the manifest gives it.'),
  lease_owner: reject('The lease belongs to another key.'),

  stale_manifest: ignore('A newer policy manifest is already known.'),
  expired: ignore('The message is past its expiry.'),
  unknown_lease: ignore('The coordinator knows no such lease, or knows it no more, many versions later.'),
  lease_expired: ignore('The lease ran out before the group arrived.'),
  replayed: ignore('This announcement was seen before.'),
  rate_limited: ignore('Too many messages from one key in a short time.'),
  wrong_policy: ignore('The policy is not one that the coordinator asks for now.'),
  stale_policy: ignore('The policy is older than the staleness limit.'),
  influence_cap: ignore('One key or address block may not supply a larger share of a batch.'),
  overloaded: ignore('The receiver has no room for this now; try again later.'),
  internal: ignore('The receiver failed; this is no fault of the sender.'),
  not_found: ignore('The receiver does not hold what was asked for.'),

  no_work: ignore('Enough groups are running; ask again later.'),
  complete: ignore('The run is complete: its last version is published.'),
  paused: ignore('The operator has paused the run, or is taking it back to an earlier version.'),
  banned: ignore('The operator has banned the key: it gets no work, and what it delivers is not taken.'),
  quarantined: ignore(
    'The key gets no work, for a while or for good: a group of its was a lie, or too many failed their audits.',
  ),
  not_registered: ignore('The key registered after the round opened; it gets leases from the next round on.'),
  uncalibrated: ignore('The run has no calibration for this inference backend, so its work could not be audited.'),
  too_many_leases: ignore('The node already holds as many leases as one key may, or as it could work off in time.'),
  too_slow: ignore('A usual group of the run would take the node longer than a lease can last.'),

  out_of_bounds: lie('A number is outside its range: token ids, log-probabilities, lengths, counts.'),
  wrong_group_size: lie('The group has another number of rollouts than the lease says.'),
  mask_mismatch: lie('The loss mask does not alternate as the chat template says.'),
  prompt_mismatch: lie('The prompt differs from the one rebuilt from the lease.'),
  environment_mismatch: lie('Tokens of the environment differ from those rebuilt by replay.'),
  replay_mismatch: lie('A tool call or its result differs from the replay in a fresh session.'),
  state_mismatch: lie('The final state of the world differs from the replay.'),
  reward_mismatch: lie('A reward differs from the recomputed one.'),
  environment_nondeterministic: ignore(
    'The world disagreed with itself on replay; the world is quarantined, not the node.',
  ),
  duplicate: copy('The same task and completion were delivered before.'),
  logprob_mismatch: doubt('The log-probabilities are not those of the announced policy.'),
  sampler_mismatch: doubt('The sampled tokens do not follow from the sampler seeds of the lease.'),
  implausible_end: doubt('A turn ended by a token that the policy hardly ever samples there.'),
  body_withheld: doubt('The group was drawn for a closer look, and its body did not come before the deadline.'),
  unconfirmed: ignore('The group was believed on the word of its node, which a later group has put in doubt.'),
  termination: lie('A rollout ended without an end token, a tool call or a cap.'),
} as const satisfies Record<string, RefusalRow>

export type RefusalCode = keyof typeof REFUSALS

export const isRefusalCode = (value: string): value is RefusalCode => Object.hasOwn(REFUSALS, value)

/** A message we will not act on. `reject` costs the sender score, so use it only for what cannot come from an honest node. */
export class SwarmRefusal extends CodedError<RefusalCode> {
  constructor(
    readonly effect: GossipEffect,
    code: RefusalCode,
    detail = '',
    options?: ErrorOptions,
  ) {
    super(code, detail, options)
  }
}

/** The refusal for `code` with the consequence that the table gives it. */
export const refusal = (code: RefusalCode, detail = '', options?: ErrorOptions): SwarmRefusal =>
  new SwarmRefusal(REFUSALS[code].effect, code, detail, options)

/** A detail as the wire takes it: no control characters, and short also when a hostile peer chose the letters. */
export function detailForWire(detail: string): string {
  const printable = detail.replaceAll(/\p{Cc}/gu, ' ')
  const encoded = new TextEncoder().encode(printable)
  if (encoded.length <= LIMITS.detailBytes.value) return printable
  // A character cut in half decodes to U+FFFD, which is longer than the bytes it replaces.
  return new TextDecoder().decode(encoded.subarray(0, LIMITS.detailBytes.value - 3)).replace(/\ufffd$/, '')
}

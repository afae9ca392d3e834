import { CodedError } from '../common/errors/index.js'
import { LIMITS } from './limits.js'

/** The effect of a refusal in gossip: `reject` lowers the sender's score, `ignore` only drops the message. */
export type GossipEffect = 'ignore' | 'reject'

/**
 * The effect of a refused group on its author. `audits`: more of its groups are audited. `quarantine`: it gets no leases for a while,
 * whether it stole work or its data directory was copied. `exclusion`: it gets no more leases, because it has signed something that no
 * honest node can produce.
 */
export type RefusalConsequence = 'none' | 'audits' | 'quarantine' | 'exclusion'

interface RefusalRow {
  readonly effect: GossipEffect
  readonly consequence: RefusalConsequence
  /** One sentence for the volunteer. */
  readonly meaning: string
}

const ignore = (meaning: string): RefusalRow => ({ effect: 'ignore', consequence: 'none', meaning })
const reject = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'none', meaning })
/** Numbers that honest work produces rarely, but can. */
const doubt = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'audits', meaning })
/** A group that its author did not generate, on purpose or by accident. */
const copy = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'quarantine', meaning })
/** A group that no honest node produces: an exact recomputation gives another result. */
const lie = (meaning: string): RefusalRow => ({ effect: 'reject', consequence: 'exclusion', meaning })

/**
 * Every reason to refuse a message, a request or a group, with its usual consequence. `reject` is only for input that no honest node can
 * send. A slow node, a restarted node or a bug of this program must not lower a score.
 */
export const REFUSALS = {
  too_large: lie('The message or one of its fields is larger than the limit table allows.'),
  malformed: lie('The bytes are not a message of this protocol version, or a field has an invalid form.'),
  bad_signature: reject('The signature does not match the content and the key.'),
  wrong_signer: reject('The message is signed by a key that may not sign messages of this kind.'),
  wrong_run: reject('The message belongs to another run.'),
  policy_id_mismatch: reject('The policy id is not the hash of the described policy.'),
  body_mismatch: lie('The body does not match its announcement: another hash, size, lease, task or policy.'),
  chunk_mismatch: reject('A chunk does not have the hash in the manifest.'),
  lease_owner: reject('The lease belongs to another key.'),

  stale_manifest: ignore('A newer policy manifest is already known.'),
  expired: ignore('The message has expired.'),
  unknown_lease: ignore('The coordinator has no such lease, or has forgotten it after many versions.'),
  lease_expired: ignore('The lease expired before the group arrived.'),
  replayed: ignore('This announcement has arrived before.'),
  rate_limited: ignore('Too many messages from one key in a short time.'),
  wrong_policy: ignore('The policy is not one that the coordinator accepts at the moment.'),
  stale_policy: ignore('The policy is older than the staleness limit.'),
  influence_cap: ignore('The key or address block already supplies the largest allowed share of a batch.'),
  overloaded: ignore('The receiver has no capacity at the moment; try again later.'),
  internal: ignore('The receiver failed. The sender is not at fault.'),
  not_found: ignore('The receiver does not have the requested item.'),

  no_work: ignore('Enough groups are in progress; ask again later.'),
  complete: ignore('The run is complete: its last version is published.'),
  paused: ignore('The operator has paused the run, or is rolling it back to an earlier version.'),
  banned: ignore('The operator has banned the key: it gets no work, and its groups are not accepted.'),
  quarantined: ignore(
    'The key gets no work, for a while or permanently: one of its groups was false, or too many failed their audits.',
  ),
  not_registered: ignore('The key registered after the round opened. It gets leases from the next round on.'),
  uncalibrated: ignore('The run has no calibration for this inference backend, so its work could not be audited.'),
  too_many_leases: ignore('The node has as many leases as one key may have, or as it can finish in time.'),
  too_slow: ignore('A typical group of the run would take the node longer than a lease lasts.'),

  out_of_bounds: lie('A number is outside its range: token ids, log-probabilities, lengths, counts.'),
  wrong_group_size: lie('The number of rollouts differs from the group size in the lease.'),
  mask_mismatch: lie('The loss mask does not alternate as the chat template requires.'),
  prompt_mismatch: lie('The prompt differs from the prompt rebuilt from the lease.'),
  environment_mismatch: lie('Environment tokens differ from the tokens rebuilt by replay.'),
  replay_mismatch: lie('A tool call or its result differs from the replay in a fresh session.'),
  state_mismatch: lie('The final state of the environment differs from the replay.'),
  reward_mismatch: lie('A reward differs from the recomputed reward.'),
  environment_nondeterministic: ignore(
    'The environment is nondeterministic: two replays differ. The environment is disabled; the node is not at fault.',
  ),
  duplicate: copy('The same task and completion have been delivered before.'),
  logprob_mismatch: doubt('The log-probabilities are not those of the announced policy.'),
  sampler_mismatch: doubt('The sampled tokens do not follow from the sampler seeds of the lease.'),
  implausible_end: doubt('A turn ended with a token that the policy almost never samples at this position.'),
  body_withheld: doubt('The group was selected for an audit, and its body did not arrive before the deadline.'),
  unconfirmed: ignore('The group was accepted without an audit, and a later group of the same node failed one.'),
  termination: lie('A rollout ended without an end token, a tool call or a limit.'),
} as const satisfies Record<string, RefusalRow>

export type RefusalCode = keyof typeof REFUSALS

/** Tests whether a text is a refusal code. */
export const isRefusalCode = (value: string): value is RefusalCode => Object.hasOwn(REFUSALS, value)

/** Refused input. `reject` lowers the sender's score, so it is only for input that no honest node can send. */
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

/** Creates the refusal for a code, with the effect from the table. */
export const refusal = (code: RefusalCode, detail = '', options?: ErrorOptions): SwarmRefusal =>
  new SwarmRefusal(REFUSALS[code].effect, code, detail, options)

/** Prepares a detail for the wire: removes control characters and truncates it, also when a hostile peer chose the text. */
export function detailForWire(detail: string): string {
  const printable = detail.replaceAll(/\p{Cc}/gu, ' ')
  const encoded = new TextEncoder().encode(printable)
  if (encoded.length <= LIMITS.detailBytes.value) return printable
  // A character cut in half decodes to U+FFFD, which is longer than the bytes it replaces.
  return new TextDecoder().decode(encoded.subarray(0, LIMITS.detailBytes.value - 3)).replace(/\ufffd$/, '')
}

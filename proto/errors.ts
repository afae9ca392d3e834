/** What a refusal does to its sender: `reject` lowers the sender's score, `ignore` only drops the message. */
export type RefusalVerdict = 'ignore' | 'reject'

interface RefusalRow {
  readonly verdict: RefusalVerdict
  /** One sentence for the volunteer whose work it was. */
  readonly meaning: string
}

const reject = (meaning: string): RefusalRow => ({ verdict: 'reject', meaning })
const ignore = (meaning: string): RefusalRow => ({ verdict: 'ignore', meaning })

/**
 * Every reason for which a message, a request or a group is turned down, with its usual consequence. `reject` is kept
 * for what cannot come from an honest node: a laggard, a restarted node and our own bugs must cost nobody a score.
 */
export const REFUSALS = {
  too_large: reject('The message or one of its fields is larger than the limit table allows.'),
  malformed: reject(
    'The bytes are not a message of this protocol version, or a field has a form that it may not have.',
  ),
  bad_signature: reject('The signature does not fit the content and the key.'),
  wrong_signer: reject('The message is signed by a key that may not say this.'),
  wrong_run: reject('The message belongs to another run.'),
  policy_id_mismatch: reject('The policy id is not the hash of the policy that is described.'),
  body_mismatch: reject('The body is not what its announcement says: other hash, size, lease, task or policy.'),
  chunk_mismatch: reject('A chunk does not have the hash that the manifest gives it.'),
  lease_owner: reject('The lease belongs to another key.'),

  stale_manifest: ignore('A newer policy manifest is already known.'),
  expired: ignore('The message is past its expiry.'),
  unknown_lease: ignore('The coordinator knows no such lease.'),
  lease_expired: ignore('The lease ran out before the group arrived.'),
  replayed: ignore('This announcement was seen before.'),
  rate_limited: ignore('Too many messages from one key in a short time.'),
  round_closed: ignore('The round of this group is closed.'),
  wrong_policy: ignore('The policy is not one that the coordinator asks for now.'),
  stale_policy: ignore('The policy is older than the staleness limit.'),
  not_needed: ignore('Enough groups of this kind were already accepted.'),
  influence_cap: ignore('One key or address block may not supply a larger share of a batch.'),
  body_unavailable: ignore('Nobody delivered the body of the group in time.'),
  overloaded: ignore('The receiver has no room for this now; try again later.'),
  internal: ignore('The receiver failed; this is no fault of the sender.'),
  not_found: ignore('The receiver does not hold what was asked for.'),

  no_work: ignore('Enough groups are running; ask again later.'),
  paused: ignore('The coordinator has paused the run.'),
  quarantined: ignore('The key is quarantined after a provable lie.'),
  not_registered: ignore('The key registered after the round opened; it gets leases from the next round on.'),
  too_many_leases: ignore('The node already holds as many leases as one key may.'),

  out_of_bounds: reject('A number is outside its range: token ids, log-probabilities, lengths, counts.'),
  wrong_group_size: reject('The group has another number of rollouts than the lease says.'),
  mask_mismatch: reject('The loss mask does not alternate as the chat template says.'),
  prompt_mismatch: reject('The prompt differs from the one rebuilt from the lease.'),
  environment_mismatch: reject('Tokens of the environment differ from those rebuilt by replay.'),
  replay_mismatch: reject('A tool call or its result differs from the replay in a fresh session.'),
  state_mismatch: reject('The final state of the world differs from the replay.'),
  reward_mismatch: reject('A reward differs from the recomputed one.'),
  world_unstable: ignore('The world disagreed with itself on replay; the world is quarantined, not the node.'),
  duplicate: reject('The same task and completion were delivered before.'),
  logprob_mismatch: reject('The log-probabilities are not those of the announced policy.'),
  sampler_mismatch: reject('The sampled tokens do not follow from the sampler seeds of the lease.'),
  termination: reject('A rollout ended without an end token, a tool call or a cap.'),
} as const satisfies Record<string, RefusalRow>

export type RefusalCode = keyof typeof REFUSALS

export const isRefusalCode = (value: string): value is RefusalCode => Object.hasOwn(REFUSALS, value)

/** A message we will not act on. `reject` costs the sender score, so use it only for what cannot come from an honest node. */
export class SwarmRefusal extends Error {
  override readonly name = 'SwarmRefusal'
  constructor(
    readonly verdict: RefusalVerdict,
    readonly code: RefusalCode,
    readonly detail = '',
    options?: ErrorOptions,
  ) {
    super(detail ? `${code}: ${detail}` : code, options)
  }
}

/** The refusal for `code` with the consequence that the table gives it. */
export const refusal = (code: RefusalCode, detail = '', options?: ErrorOptions): SwarmRefusal =>
  new SwarmRefusal(REFUSALS[code].verdict, code, detail, options)

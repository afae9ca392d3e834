import { countOf } from '../../../common/errors/index.js'
import {
  type GroupAnnouncement,
  type GroupBody,
  groupBody,
  openGroupAnnouncement,
  REFUSALS,
  type RecordedCall,
  type RecordedRollout,
  SwarmRefusal,
  sha256,
} from '../../../proto/index.js'
import { bringsTools, hashesOf, type ParsedCall, type Rollout, statesHash } from '../../../rollout/episode/index.js'
import { recordCall } from '../../../rollout/verification/index.js'
import type { TaskRuntime } from '../episode-runtime.js'
import { readCall, unreadableCall } from '../message.js'
import { openEpisode } from '../play.js'
import type { Published, PublishedGroup, PublishedRollout } from './published.js'

/** Outcome of one check. */
export interface Finding {
  /** Description of the checked claim. */
  readonly check: string
  /** `unchecked`: the check is not possible here, and `detail` gives the reason. */
  readonly outcome: 'passed' | 'failed' | 'unchecked'
  readonly detail: string
  /** Code with which the swarm rejects a failed check. */
  readonly code?: string
}

/** Result of the replay of a rollout. */
export interface Replayed {
  readonly calls: readonly {
    readonly text: string
    readonly claimed: string
    readonly replayed: string
    readonly ok: boolean
  }[]
  readonly claimedReward: number | null
  readonly reward: number | null
}

export interface VerificationResult {
  readonly findings: readonly Finding[]
  readonly rollouts: readonly Replayed[]
  /** Peer id of the signing key; null: the publication has no valid signature. */
  readonly signer: string | null
}

/**
 * Verifies a published rollout or group: signature, hashes, a replay of every call in fresh environments, final states and rewards. It
 * recomputes every claim that needs no model. Claims that need the model (prompts, tokens, log-probabilities, sampling) are `unchecked`.
 * @throws EpisodeError `bad_task` if the environments here do not have the task
 */
export function verifyPublished(published: Published, runtime: TaskRuntime): Promise<VerificationResult> {
  return published.kind === 'group' ? verifyGroup(published, runtime) : verifyRollout(published, runtime)
}

const passed = (check: string, detail = ''): Finding => ({ check, outcome: 'passed', detail })
const failed = (check: string, code: string, detail: string): Finding => ({ check, outcome: 'failed', detail, code })
const unchecked = (check: string, detail: string): Finding => ({ check, outcome: 'unchecked', detail })

async function verifyGroup(published: PublishedGroup, runtime: TaskRuntime): Promise<VerificationResult> {
  const { task, announcement: sealed, body: bytes, run, reward } = published
  const findings: Finding[] = []
  const signature = 'Signature of the announcement'
  let announced: GroupAnnouncement | null = null
  let signer: string | null = null
  try {
    const opened = await openGroupAnnouncement(sealed, run)
    announced = opened.announcement
    signer = opened.signer
    findings.push(passed(signature, `signed by ${signer} for the run ${run}`))
  } catch (why) {
    findings.push(failed(signature, ...reasonOf(why)))
  }

  const format = 'Format and limits of the body'
  let body: GroupBody
  try {
    body = groupBody.parse(bytes)
    findings.push(passed(format, `${countOf(body.rollouts.length, 'rollout')} in ${bytes.length} bytes`))
  } catch (why) {
    return { findings: [...findings, failed(format, ...reasonOf(why))], rollouts: [], signer }
  }
  if (announced) {
    const named = 'Hash of the body'
    const hash = sha256(bytes)
    findings.push(
      hash === announced.bodySha256
        ? passed(named, `SHA-256 ${hash}`)
        : failed(named, 'body_mismatch', `the announcement has ${announced.bodySha256}, and this body has ${hash}`),
    )
    const rewards = 'Rewards of the announcement and the body'
    const claimed = announced.rewards.join(', ')
    const recorded = body.rollouts.map((rollout) => rollout.reward.total).join(', ')
    findings.push(
      claimed === recorded
        ? passed(rewards)
        : failed(rewards, 'reward_mismatch', `the announcement has ${claimed}, and the body has ${recorded}`),
    )
  }
  const same = 'Task of the body'
  findings.push(
    body.taskId === task.id
      ? passed(same)
      : failed(same, 'malformed', `the body belongs to task ${body.taskId}, and the publication to task ${task.id}`),
  )
  const rollouts: Replayed[] = []
  for (const [i, recorded] of body.rollouts.entries()) {
    const { found, replayed } = await replayRecorded(recorded, i, published, runtime)
    findings.push(...found)
    rollouts.push(replayed)
  }
  findings.push(
    unchecked(
      'Prompt, tokens, log-probabilities and sampling',
      `These checks need the tokenizer and the weights of the policy: run prove-node verify-group. The reward preset here is ${reward.name}.`,
    ),
  )
  return { findings, rollouts, signer }
}

async function replayRecorded(
  recorded: RecordedRollout,
  i: number,
  { task, reward }: PublishedGroup,
  runtime: TaskRuntime,
): Promise<{ found: Finding[]; replayed: Replayed }> {
  const of = `Rollout ${i + 1}: `
  const found: Finding[] = []
  const calls: Replayed['calls'][number][] = []
  const episode = await openEpisode(task, { runtime, reward })
  const claimed = { claimedReward: recorded.reward.total, reward: null }
  const everyCall = `${of}replay of every call`
  const parsed = recorded.calls.map(parsedCall)
  const truncated = parsed.indexOf(null)
  if (truncated >= 0 || bringsTools(task)) {
    const why =
      truncated >= 0
        ? `call ${truncated + 1} was truncated in the record; only its tokens are complete`
        : 'the user adds tools later, and only the tokens show in which turn a call was made'
    return { found: [unchecked(everyCall, why)], replayed: { calls, ...claimed } }
  }
  // The record has no texts and no turns. Calls have the same results when one message makes them all.
  const { results } = await episode.act({ text: '', calls: parsed.filter((call) => call !== null) })
  for (const [k, result] of results.entries()) {
    const call = recorded.calls[k]!
    const again = recordCall(episode.calls[k]!, result.text)
    calls.push({
      text: call.malformed ? call.raw : `${call.name} ${call.argumentsJson}`,
      claimed: call.resultJson,
      replayed: again.resultJson,
      ok: sameCall(call, again),
    })
  }
  if (calls.length < recorded.calls.length) {
    found.push(failed(everyCall, 'replay_mismatch', `the episode is over before call ${calls.length + 1}`))
    return { found, replayed: { calls, ...claimed } }
  }
  const wrong = calls.findIndex(({ ok }) => !ok)
  found.push(
    wrong < 0
      ? passed(everyCall, `${countOf(calls.length, 'call')} with the recorded results, byte for byte`)
      : failed(everyCall, 'replay_mismatch', `call ${wrong + 1} has a different result`),
  )
  const state = statesHash(hashesOf(episode.sessions))
  found.push(
    state === recorded.stateHash
      ? passed(`${of}final state of the environments`, `SHA-256 ${state}`)
      : failed(
          `${of}final state of the environments`,
          'state_mismatch',
          `the record has ${recorded.stateHash}, and the replay has ${state}`,
        ),
  )
  const rewardCheck = `${of}reward and its components`
  if (reward.needsFacts) {
    found.push(unchecked(rewardCheck, `${reward.name} scores the messages, and only the tokens contain them`))
    return { found, replayed: { calls, ...claimed } }
  }
  const scored = episode.score()
  found.push(rewardFinding(rewardCheck, recorded.reward, scored))
  return { found, replayed: { calls, claimedReward: recorded.reward.total, reward: scored.total } }
}

function rewardFinding(
  check: string,
  claimed: RecordedRollout['reward'],
  { total, components }: Pick<Rollout['reward'], 'total' | 'components'>,
): Finding {
  const parts = Object.entries(components ?? {})
  if (claimed.total !== total) return failed(check, 'reward_mismatch', `claimed ${claimed.total}, recomputed ${total}`)
  const wrong = parts.find(([name, value], k) => {
    const part = claimed.components[k]
    return part?.name !== name || part.value !== value
  })
  if (wrong || claimed.components.length !== parts.length)
    return failed(check, 'reward_mismatch', `${wrong?.[0] ?? 'a component'}: recomputed ${wrong?.[1] ?? 'none'}`)
  return passed(check, `${total}, exactly`)
}

/** Returns a recorded call in parsed form; null if the record was truncated. */
function parsedCall(call: RecordedCall): ParsedCall | null {
  if (call.malformed) return unreadableCall(call.raw)
  const parsed = readCall(call.name, call.argumentsJson)
  return parsed.malformed ? null : parsed
}

const sameCall = (claim: RecordedCall, again: RecordedCall): boolean =>
  (['name', 'argumentsJson', 'ok', 'malformed', 'raw', 'resultJson'] as const).every((key) => claim[key] === again[key])

async function verifyRollout(published: PublishedRollout, runtime: TaskRuntime): Promise<VerificationResult> {
  const { task, actions, claims, reward } = published
  const episode = await openEpisode(task, { runtime, reward })
  const calls: Replayed['calls'][number][] = []
  for (const message of actions) {
    if (episode.isOver) {
      const check = 'Replay of every message'
      const found = failed(
        check,
        'replay_mismatch',
        `the episode was over after ${countOf(episode.actions.length, 'message')}`,
      )
      return { findings: [found], rollouts: [], signer: null }
    }
    const { results } = await episode.act(message)
    for (const [k, result] of results.entries()) {
      const call = message.calls[k]!
      const claim = claims.results?.[calls.length]
      calls.push({
        text: call.malformed ? call.raw : `${call.name} ${JSON.stringify(call.arguments)}`,
        claimed: claim?.text ?? '',
        replayed: result.text,
        ok: claims.results === undefined || (claim?.text === result.text && claim.ok === result.ok),
      })
    }
  }
  const scored = episode.score()
  const findings: Finding[] = [
    unchecked('Signature', 'A single rollout has no signature.'),
    resultsFinding(claims.results, calls),
    claimFinding('Final state of the environments', 'state_mismatch', claims.stateHashes, scored.stateHashes),
    claimFinding('Reward', 'reward_mismatch', claims.total, scored.total),
    claimFinding('Components of the reward', 'reward_mismatch', claims.components, { ...scored.components }),
    claimFinding('Solved or not', 'reward_mismatch', claims.solved, scored.solved),
  ]
  return {
    findings,
    rollouts: [{ calls, claimedReward: claims.total ?? null, reward: scored.total }],
    signer: null,
  }
}

function resultsFinding(claimed: PublishedRollout['claims']['results'], calls: Replayed['calls']): Finding {
  const check = 'Replay of every call'
  if (claimed === undefined)
    return unchecked(check, `${countOf(calls.length, 'call')} replayed; the rollout claims no results`)
  const wrong = calls.findIndex(({ ok }) => !ok)
  if (wrong >= 0) return failed(check, 'replay_mismatch', `call ${wrong + 1} has a different result`)
  if (claimed.length !== calls.length)
    return failed(
      check,
      'replay_mismatch',
      `the rollout claims ${countOf(claimed.length, 'result')} for ${countOf(calls.length, 'call')}`,
    )
  return passed(check, `${countOf(calls.length, 'call')} with the claimed results, byte for byte`)
}

function claimFinding(check: string, code: string, claimed: unknown, recomputed: unknown): Finding {
  const [claimedText, recomputedText] = [canonical(claimed), canonical(recomputed)]
  if (claimed === undefined) return unchecked(check, `the rollout claims no value; recomputed ${recomputedText}`)
  return claimedText === recomputedText
    ? passed(check, recomputedText)
    : failed(check, code, `claimed ${claimedText}, recomputed ${recomputedText}`)
}

/** Returns JSON with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/** Returns code and detail of a rejection. @throws every other error */
function reasonOf(why: unknown): [string, string] {
  if (why instanceof SwarmRefusal) return [why.code, why.detail || REFUSALS[why.code].meaning]
  throw why
}

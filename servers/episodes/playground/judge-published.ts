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
import { hashesOf, type Rollout, statesHash } from '../../../rollout/episode/index.js'
import { recordCall } from '../../../rollout/verification/index.js'
import { callArguments } from '../action.js'
import type { TaskRuntime } from '../episode-runtime.js'
import { type Action, openEpisode } from '../play.js'
import type { Published, PublishedGroup, PublishedRollout } from './published.js'

/** What was made of one claim. */
export interface Finding {
  /** What is asked, as people read it. */
  readonly check: string
  /** `open`: it cannot be told here, and `detail` says why. */
  readonly outcome: 'holds' | 'lie' | 'open'
  readonly detail: string
  /** With which the swarm refuses it. */
  readonly code?: string
}

/** A rollout as it was played again. */
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

export interface Judgement {
  readonly findings: readonly Finding[]
  readonly rollouts: readonly Replayed[]
  /** Peer id of the key that signed; null: nothing is signed, or not by the key that it names. */
  readonly signer: string | null
}

/**
 * Judges what somebody has published: signature and hashes, every call again in fresh worlds, final states and rewards. It believes
 * nothing that it can recompute. What needs the model (prompts, tokens, log-probabilities, draws) is left open, and said so.
 * @throws EpisodeError `bad_task` for a task that these worlds do not have
 */
export function judgePublished(published: Published, runtime: TaskRuntime): Promise<Judgement> {
  return published.kind === 'group' ? judgeGroup(published, runtime) : judgeRollout(published, runtime)
}

const holds = (check: string, detail = ''): Finding => ({ check, outcome: 'holds', detail })
const lie = (check: string, code: string, detail: string): Finding => ({ check, outcome: 'lie', detail, code })
const left = (check: string, detail: string): Finding => ({ check, outcome: 'open', detail })

async function judgeGroup(published: PublishedGroup, runtime: TaskRuntime): Promise<Judgement> {
  const { task, announcement: sealed, body: bytes, run, reward } = published
  const findings: Finding[] = []
  const signature = 'The announcement is signed by the key that it names'
  let announced: GroupAnnouncement | null = null
  let signer: string | null = null
  try {
    const opened = await openGroupAnnouncement(sealed, run)
    announced = opened.announcement
    signer = opened.signer
    findings.push(holds(signature, `${signer}, for the run ${run}`))
  } catch (why) {
    findings.push(lie(signature, ...reasonOf(why)))
  }

  const form = 'The body has the form and the bounds of a group'
  let body: GroupBody
  try {
    body = groupBody.parse(bytes)
    findings.push(holds(form, `${countOf(body.rollouts.length, 'rollout')} in ${bytes.length} bytes`))
  } catch (why) {
    return { findings: [...findings, lie(form, ...reasonOf(why))], rollouts: [], signer }
  }
  if (announced) {
    const named = 'The body is the announced one'
    const hash = sha256(bytes)
    findings.push(
      hash === announced.bodySha256
        ? holds(named, `SHA-256 ${hash}`)
        : lie(named, 'body_mismatch', `announced is ${announced.bodySha256}, this has ${hash}`),
    )
    const rewards = 'The announced rewards are those of the body'
    const claimed = announced.rewards.join(', ')
    const recorded = body.rollouts.map((rollout) => rollout.reward.total).join(', ')
    findings.push(
      claimed === recorded
        ? holds(rewards)
        : lie(rewards, 'reward_mismatch', `announced are ${claimed}; the body has ${recorded}`),
    )
  }
  const same = 'It is of the task that is shown'
  findings.push(
    body.taskId === task.id ? holds(same) : lie(same, 'malformed', `the body is of the task ${body.taskId}`),
  )
  const rollouts: Replayed[] = []
  for (const [i, recorded] of body.rollouts.entries()) {
    const { found, replayed } = await replayRecorded(recorded, i, published, runtime)
    findings.push(...found)
    rollouts.push(replayed)
  }
  findings.push(
    left(
      'Prompt, tokens, log-probabilities and draws',
      `They need the tokenizer and the weights of the policy: prove-node verify judges them, and a coordinator does. The reward here is ${reward.name}.`,
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
  for (const [k, call] of recorded.calls.entries()) {
    const action = actionOf(call)
    if (action === null) {
      found.push(
        left(`${of}every call again`, `call ${k + 1} is too long to be recorded whole; only its tokens have it`),
      )
      return { found, replayed: { calls, ...claimed } }
    }
    if (episode.isOver) {
      found.push(lie(`${of}every call again`, 'replay_mismatch', `there is no room for call ${k + 1}`))
      return { found, replayed: { calls, ...claimed } }
    }
    const outcome = await episode.act(action)
    const again = recordCall(episode.calls[k]!, outcome.type === 'result' ? outcome.text : '')
    calls.push({
      text: call.malformed ? call.raw : `${call.name} ${call.argumentsJson}`,
      claimed: call.resultJson,
      replayed: again.resultJson,
      ok: sameCall(call, again),
    })
  }
  const wrong = calls.findIndex(({ ok }) => !ok)
  found.push(
    wrong < 0
      ? holds(`${of}every call again`, `${countOf(calls.length, 'call')} answered as recorded, byte for byte`)
      : lie(`${of}every call again`, 'replay_mismatch', `call ${wrong + 1} is answered otherwise`),
  )
  const state = statesHash(hashesOf(episode.sessions))
  found.push(
    state === recorded.stateHash
      ? holds(`${of}the worlds at the end`, `SHA-256 ${state}`)
      : lie(`${of}the worlds at the end`, 'state_mismatch', `recorded ${recorded.stateHash}, here ${state}`),
  )
  const rewardCheck = `${of}the reward and its parts`
  if (reward.needsFacts) {
    found.push(left(rewardCheck, `${reward.name} looks at what was said, which only the tokens tell`))
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
  if (claimed.total !== total) return lie(check, 'reward_mismatch', `claimed ${claimed.total}, recomputed ${total}`)
  const wrong = parts.find(([name, value], k) => {
    const part = claimed.components[k]
    return part?.name !== name || part.value !== value
  })
  if (wrong || claimed.components.length !== parts.length)
    return lie(check, 'reward_mismatch', `${wrong?.[0] ?? 'a part'}: recomputed ${wrong?.[1] ?? 'without it'}`)
  return holds(check, `${total}, to the last bit`)
}

/** Null: what is recorded of it was cut. */
function actionOf(call: RecordedCall): Action | null {
  if (call.malformed) return { type: 'unreadable', raw: call.raw }
  const args = callArguments.safeParse(call.argumentsJson)
  if (!args.success) return null
  return { type: 'call', name: call.name, arguments: args.data as Extract<Action, { type: 'call' }>['arguments'] }
}

const sameCall = (claim: RecordedCall, again: RecordedCall): boolean =>
  (['name', 'argumentsJson', 'ok', 'malformed', 'raw', 'resultJson'] as const).every((key) => claim[key] === again[key])

async function judgeRollout(published: PublishedRollout, runtime: TaskRuntime): Promise<Judgement> {
  const { task, actions, claims, reward } = published
  const episode = await openEpisode(task, { runtime, reward })
  const calls: Replayed['calls'][number][] = []
  for (const action of actions) {
    if (episode.isOver) {
      const check = 'Everything that was done, again'
      const found = lie(
        check,
        'replay_mismatch',
        `the episode was over after ${countOf(episode.actions.length, 'action')}`,
      )
      return { findings: [found], rollouts: [], signer: null }
    }
    const outcome = await episode.act(action)
    if (outcome.type !== 'result') continue
    const claim = claims.results?.[calls.length]
    calls.push({
      text: action.type === 'call' ? `${action.name} ${JSON.stringify(action.arguments)}` : 'unreadable',
      claimed: claim?.text ?? '',
      replayed: outcome.text,
      ok: claims.results === undefined || (claim?.text === outcome.text && claim.ok === outcome.ok),
    })
  }
  const scored = episode.score()
  const findings: Finding[] = [
    left('Signature', 'A rollout of this form carries none: what it says counts, not who says it.'),
    resultsFinding(claims.results, calls),
    claimFinding('The worlds at the end', 'state_mismatch', claims.stateHashes, scored.stateHashes),
    claimFinding('The reward', 'reward_mismatch', claims.total, scored.total),
    claimFinding('The parts of the reward', 'reward_mismatch', claims.components, { ...scored.components }),
    claimFinding('Whether the task is solved', 'reward_mismatch', claims.solved, scored.solved),
  ]
  return {
    findings,
    rollouts: [{ calls, claimedReward: claims.total ?? null, reward: scored.total }],
    signer: null,
  }
}

function resultsFinding(claimed: PublishedRollout['claims']['results'], calls: Replayed['calls']): Finding {
  const check = 'Every call again'
  if (claimed === undefined)
    return left(
      check,
      `${countOf(calls.length, 'call')} ${calls.length === 1 ? 'was' : 'were'} made; nothing is claimed of their answers`,
    )
  const wrong = calls.findIndex(({ ok }) => !ok)
  if (wrong >= 0) return lie(check, 'replay_mismatch', `call ${wrong + 1} is answered otherwise`)
  if (claimed.length !== calls.length)
    return lie(
      check,
      'replay_mismatch',
      `${countOf(claimed.length, 'answer')} ${claimed.length === 1 ? 'is' : 'are'} claimed, of ${countOf(calls.length, 'call')}`,
    )
  return holds(check, `${countOf(calls.length, 'call')} answered as claimed, byte for byte`)
}

function claimFinding(check: string, code: string, claimed: unknown, recomputed: unknown): Finding {
  const [said, is] = [stated(claimed), stated(recomputed)]
  if (claimed === undefined) return left(check, `nothing is claimed; it is ${is}`)
  return said === is ? holds(check, is) : lie(check, code, `claimed ${said}, recomputed ${is}`)
}

/** As text in which the order of keys does not count. */
const stated = (value: unknown): string =>
  JSON.stringify(
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/** @returns code and detail */
function reasonOf(why: unknown): [string, string] {
  if (why instanceof SwarmRefusal) return [why.code, why.detail || REFUSALS[why.code].meaning]
  throw why
}

import type { Engine, Token, TokenSource } from '../../rollout/engine/types.js'
import {
  type EpisodeLimits,
  type EpisodeRuntime,
  type Rollout,
  runEpisode,
  runGroup,
  type Task,
  turnSeeds,
} from '../../rollout/episode/index.js'
import { type AuditedGroup, type AuditedRollout, rolesOf, turnsOf } from '../../rollout/verification/sampled-turns.js'

export interface CheatSetting {
  readonly runtime: EpisodeRuntime
  readonly limits: EpisodeLimits
  readonly engine: Pick<Engine, 'openSlots'>
  readonly signal: AbortSignal
}

/** Of four groups with seeds of which only one is the lease's, the best of each rollout. */
export async function cherryPick(
  task: Task,
  groupSize: number,
  leaseSeed: Uint8Array,
  { runtime, limits, engine, signal }: CheatSetting,
): Promise<Rollout[]> {
  const tries: (readonly Rollout[])[] = []
  for (const salt of [0, 1, 2, 3]) {
    const seed = leaseSeed.map((byte) => byte ^ salt)
    tries.push(await runGroup(task, groupSize, seed, engine, runtime, limits, signal))
  }
  return tries[0]!.map((_, i) => {
    const candidates = tries.map((rollouts) => rollouts[i]!)
    return candidates.reduce((best, other) => (other.reward.total > best.reward.total ? other : best))
  })
}

const PLAIN = /^[A-Za-z0-9]+$/

/**
 * Replaces one token of a tool call's arguments by another word or digit and goes on from there with the lease's seeds, as
 * a node would that corrects its model. The rollout is whole: it replays.
 * @returns the rollout and which of its sampled tokens was replaced, or null when it has no argument to edit
 */
export async function editArgument(
  task: Task,
  group: AuditedGroup,
  index: number,
  { runtime, limits, engine, signal }: CheatSetting,
): Promise<{ readonly rollout: Rollout; readonly place: number } | null> {
  const rollout = group.rollouts[index]!
  const { tokenizer } = runtime
  const roles = rolesOf(rollout, runtime)
  const sampled = [...rollout.mask.keys()].filter((at) => rollout.mask[at] === 1)
  const editable = sampled.filter(
    (at, k) => roles[k]!.argument && PLAIN.test(tokenizer.detokenize([rollout.tokens[at]!])),
  )
  const at = editable[Math.floor(editable.length / 2)]
  const words = editable.map((place) => rollout.tokens[place]!)
  const other = words.find((token) => at !== undefined && token !== rollout.tokens[at])
  if (at === undefined || other === undefined) return null
  const tokens = rollout.tokens.with(at, other)
  const seeds = turnSeeds(group.leaseSeed, index, limits)
  const isEnd = (token: Token): boolean => tokenizer.isEndOfGeneration(token)
  const source = continuedSource({ ...rollout, tokens }, at, seeds, isEnd, engine, signal)
  const edited = await runEpisode(task, source, runtime, limits, signal)
  return { rollout: edited, place: sampled.indexOf(at) }
}

/** Plays a recording up to and with the turn that holds token `at`; then a live slot continues. */
function continuedSource(
  { tokens, mask, logprobs }: AuditedRollout,
  at: number,
  seeds: readonly number[],
  isEnd: (token: Token) => boolean,
  engine: Pick<Engine, 'openSlots'>,
  signal: AbortSignal,
): TokenSource {
  const turns = turnsOf(mask)
  const last = turns.findIndex(([, end]) => at < end)
  let turn = 0
  let before = 0
  let live: TokenSource | null = null
  return {
    async next(feed, maxTokens) {
      const [start, end] = turns[turn] ?? [0, 0]
      if (turn <= last) {
        turn++
        const own = logprobs.slice(before, before + end - start)
        before += end - start
        return { tokens: tokens.slice(start, end), logprobs: own, stop: isEnd(tokens[end - 1]!) ? 'end' : 'length' }
      }
      if (live === null) {
        const prompt = tokens.slice(0, turns[last]![1])
        live = (await engine.openSlots([{ prompt, seeds: seeds.slice(last + 1) }], signal))[0]!
      }
      return live.next(feed, maxTokens, signal)
    },
    async close() {
      await live?.close()
    },
  }
}

/** The log-probabilities that the policy in force gives a rollout's sampled tokens: claims nobody can object to. */
export async function trueClaims(
  engine: Pick<Engine, 'score'>,
  { tokens, mask }: Rollout,
  signal: AbortSignal,
): Promise<number[]> {
  const [[from] = [0]] = turnsOf(mask)
  const scored = await engine.score(tokens, from, signal)
  return scored.flatMap((logprob, i) => (mask[from + i] === 1 ? [Math.min(0, logprob)] : []))
}

import { z } from 'zod'
import { parseTask, type Task } from '../../../rollout/episode/index.js'
import { REWARD_PRESETS, type RewardPreset } from '../../../rollout/reward/index.js'
import { GROUP_FORMAT, publishedGroup } from '../../../rollout/verification/index.js'
import { parseAs, recordedAction, recordedActionSchema } from '../action.js'
import { EpisodeServerError } from '../errors.js'
import type { Action } from '../play.js'
import type { Branch } from './board.js'

/** What somebody has published of rollouts, as it was read: nothing of it is believed yet. */
export type Published = PublishedGroup | PublishedRollout

/** A group of the swarm: what its node signed, and the body that its announcement names by hash. */
export interface PublishedGroup {
  readonly kind: 'group'
  readonly title: string
  readonly about: string
  readonly task: Task
  readonly reward: RewardPreset
  /** The run that it was made for: a part of what is signed. */
  readonly run: string
  readonly announcement: Uint8Array
  readonly body: Uint8Array
}

/** One rollout as `prove-server score` takes it, with what it answered, or with claims of somebody else. */
export interface PublishedRollout {
  readonly kind: 'rollout'
  readonly title: string
  readonly about: string
  readonly task: Task
  readonly reward: RewardPreset
  readonly actions: readonly Action[]
  readonly claims: {
    readonly total?: number
    readonly components?: Readonly<Record<string, number | null>>
    readonly solved?: boolean
    readonly stateHashes?: Readonly<Record<string, string>>
    readonly results?: readonly { readonly ok: boolean; readonly text: string }[]
  }
}

const rollout = z.object({
  title: z.string().max(200).default(''),
  about: z.string().max(2000).default(''),
  task: z.unknown(),
  actions: z.array(recordedActionSchema).max(256),
  preset: z.string().default('paper'),
  total: z.number().optional(),
  components: z.record(z.string(), z.number().nullable()).optional(),
  solved: z.boolean().optional(),
  stateHashes: z.record(z.string(), z.string()).optional(),
  results: z
    .array(z.object({ ok: z.boolean(), text: z.string() }))
    .max(256)
    .optional(),
})

const published = z.union([publishedGroup, rollout], {
  error: `a published rollout is {"task", "actions", …}, and a group {"format": "${GROUP_FORMAT}", "task", "reward", "run", "announcement", "body"}`,
})

/** Characters of a file with a published rollout: the largest body of a group, in base64, with its task. */
export const PUBLISHED_CHARS = 8 * 1024 * 1024

/**
 * @param text  JSON, as it came from a file or a server
 * @param named  tasks that a rollout may name by id
 * @throws EnvironmentError `bad_request`, `unknown_task`; EpisodeError `bad_task`
 */
export function readPublished(text: string, named: (id: string) => Task): Published {
  if (text.length > PUBLISHED_CHARS)
    throw new EpisodeServerError('bad_request', `more than ${PUBLISHED_CHARS} characters: that is no rollout`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new EpisodeServerError('bad_request', 'this is not one JSON document')
  }
  const read = parseAs(published, value)
  const task = typeof read.task === 'string' ? named(read.task) : parseTask(read.task)
  const { title, about } = read
  if ('format' in read) {
    const { run, announcement, body } = read
    return { kind: 'group', title, about, task, reward: rewardNamed(read.reward), run, announcement, body }
  }
  const { actions, preset, total, components, solved, stateHashes, results } = read
  const claims = Object.fromEntries(
    Object.entries({ total, components, solved, stateHashes, results }).filter(([, claim]) => claim !== undefined),
  )
  return { kind: 'rollout', title, about, task, reward: rewardNamed(preset), actions, claims }
}

function rewardNamed(name: string): RewardPreset {
  const preset = REWARD_PRESETS.get(name)
  if (!preset) throw new EpisodeServerError('bad_request', `there is no reward ${name}`)
  return preset
}

/** What somebody played, in the form in which it can be judged again, here or by `prove-server score`. */
export function publishable({ episode, steps }: Branch): object {
  const { preset, total, components, solved, stateHashes } = episode.score()
  const actions = episode.actions.map(recordedAction)
  const results = steps.flatMap(({ outcome }) =>
    outcome.type === 'result' ? [{ ok: outcome.ok, text: outcome.text }] : [],
  )
  return { task: episode.task, actions, preset, total, components, solved, stateHashes, results }
}

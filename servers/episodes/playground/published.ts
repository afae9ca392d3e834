import { z } from 'zod'
import { type AssistantMessage, parseTask, type Task } from '../../../rollout/episode/index.js'
import { REWARD_PRESETS, type RewardPreset } from '../../../rollout/reward/index.js'
import { GROUP_FORMAT, publishedGroup } from '../../../rollout/verification/index.js'
import { EpisodeServerError } from '../errors.js'
import { parseAs, recordedMessage, recordedMessages } from '../message.js'
import { readJson } from '../read-json.js'
import type { Branch } from './played-task.js'

/** A parsed publication of rollouts. None of its claims is verified yet. */
export type Published = PublishedGroup | PublishedRollout

/** A group of the swarm: the announcement that its node signed, and the body whose hash the announcement contains. */
export interface PublishedGroup {
  readonly kind: 'group'
  readonly title: string
  readonly about: string
  readonly task: Task
  readonly reward: RewardPreset
  /** Run that the group was made for; the signature covers it. */
  readonly run: string
  readonly announcement: Uint8Array
  readonly body: Uint8Array
}

/** One rollout in the form that `prove-server score` accepts, with claims about its results. */
export interface PublishedRollout {
  readonly kind: 'rollout'
  readonly title: string
  readonly about: string
  readonly task: Task
  readonly reward: RewardPreset
  readonly actions: readonly AssistantMessage[]
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
  actions: recordedMessages,
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

/** Most characters of a published rollout: the largest body of a group, in base64, with its task. */
export const PUBLISHED_CHARS = 8 * 1024 * 1024

/**
 * Parses a published rollout or group.
 * @param text  JSON of a file or a server
 * @param named  returns the task with an id
 * @throws EpisodeServerError `bad_request`, `unknown_task`; EpisodeError `bad_task`
 */
export function readPublished(text: string, named: (id: string) => Task): Published {
  if (text.length > PUBLISHED_CHARS)
    throw new EpisodeServerError(
      'bad_request',
      `the text has ${text.length} characters, and a rollout has at most ${PUBLISHED_CHARS}: check that it is a published rollout`,
    )
  const read = parseAs(published, readJson(text, 'the text of the published rollout or group'))
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
  if (!preset)
    throw new EpisodeServerError(
      'bad_request',
      `no reward preset ${name}: use one of ${[...REWARD_PRESETS.keys()].join(', ')}`,
    )
  return preset
}

/** Returns the rollout of a branch in the form that `readPublished` and `prove-server score` accept. */
export function publishable({ episode, steps }: Branch): object {
  const { preset, total, components, solved, stateHashes } = episode.score()
  const actions = episode.actions.map(recordedMessage)
  const results = steps.flatMap(({ reaction }) => reaction.results)
  return { task: episode.task, actions, preset, total, components, solved, stateHashes, results }
}

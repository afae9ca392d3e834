import { randomBytes } from 'node:crypto'
import type { PrivateKey } from '@libp2p/interface'
import { groupAnnouncementOf, groupBodyOf } from '../../node/delivery/group-body.js'
import { type GroupBody, groupBody, type Lease, sealGroupAnnouncement } from '../../proto/index.js'
import {
  createReferenceSource,
  type EpisodeLimits,
  type EpisodeRuntime,
  groundTruthScript,
  nameTask,
  promptOf,
  type Rollout,
  runEpisode,
  type Task,
  type ToolCallFormat,
} from '../../rollout/episode/index.js'
import type { ExpectedGroup } from '../../rollout/verification/index.js'

/** Groups of the size for which verification speed is specified: long prompts, several calls per rollout, all different. */

export const GROUP_SIZE = 8
export const ROLLOUT_TOKENS = 1500
export const LONG_LIMITS: EpisodeLimits = {
  maxTurnTokens: 256,
  maxRolloutTokens: 4096,
  maxAssistantTurns: 12,
  maxCalls: 24,
}

export interface MadeGroup {
  readonly expected: ExpectedGroup
  readonly body: GroupBody
  readonly bytes: Uint8Array
  /** The signed announcement without and with the body. */
  readonly sealed: Uint8Array
  readonly sealedInline: Uint8Array
  readonly rollouts: readonly Rollout[]
}

/** Returns the task with further tools of its environments, as many as fit in the prompt. */
export function lengthen(task: Task, runtime: EpisodeRuntime, promptTokens: number): Task {
  const { id: _, ...body } = task
  const offered = new Set(task.toolset.map(({ tool }) => tool))
  const further = task.environments.flatMap(({ environment }) =>
    runtime.catalogue
      .get(environment)!
      .tools.filter(({ name }) => !offered.has(name))
      .map(({ name }) => ({ environment, tool: name })),
  )
  let longest = task
  for (let more = 1; more <= further.length; more++) {
    const candidate = nameTask({ ...body, toolset: [...task.toolset, ...further.slice(0, more)] })
    if (promptOf(candidate, runtime, LONG_LIMITS).length > promptTokens) break
    longest = candidate
  }
  return longest
}

/** Returns a group as a node delivers it: half of its rollouts solve the task, the others fail in different ways. */
export async function makeGroup(
  task: Task,
  index: number,
  runtime: EpisodeRuntime,
  key: PrivateKey,
  runId: string,
): Promise<MadeGroup> {
  const lease: Lease = {
    leaseId: randomBytes(16).toString('hex'),
    index,
    policyId: 'b2'.repeat(32),
    version: 0,
    taskId: task.id,
    task: new Uint8Array(),
    seed: '00'.repeat(32),
    deadlineMs: 0,
    groupSize: GROUP_SIZE,
    configurationId: 'c3'.repeat(32),
  }
  const rollouts: Rollout[] = []
  for (let i = 0; i < GROUP_SIZE; i++) {
    const source = createReferenceSource(scriptOf(task, i, runtime.toolCallFormat), runtime)
    rollouts.push(await runEpisode(task, source, runtime, LONG_LIMITS, AbortSignal.timeout(60_000)))
  }
  return seal(lease, task, rollouts, key, runId)
}

/** Returns rollouts in the form in which a node delivers them for a lease. */
export async function seal(
  lease: Lease,
  task: Task,
  rollouts: readonly Rollout[],
  key: PrivateKey,
  runId: string,
): Promise<MadeGroup> {
  const body = groupBodyOf(lease, rollouts, { nodeLlamaCpp: '3.22.1', backend: 'cpu' }, 1000)
  const bytes = groupBody.encode(body)
  const announcement = groupAnnouncementOf(lease, rollouts, bytes)
  const { leaseId, policyId } = lease
  return {
    expected: { leaseId, policyId, task, groupSize: GROUP_SIZE, limits: LONG_LIMITS },
    body: groupBody.parse(bytes),
    bytes,
    sealed: await sealGroupAnnouncement(key, runId, announcement, null),
    sealedInline: await sealGroupAnnouncement(key, runId, announcement, bytes),
    rollouts,
  }
}

/** Returns rollout i of a group: the ground truth after i superfluous calls. */
function scriptOf(task: Task, i: number, toolCallFormat: ToolCallFormat): string[] {
  const { writeCall } = toolCallFormat
  const script = groundTruthScript(task, toolCallFormat)
  const name = task.toolset[i % task.toolset.length]!.tool
  const astray = [writeCall(name, {}), writeCall(name, { unheard_of: i }), writeCall('no_such_tool', { i })]
  if (i % 2 === 0) return [...astray.slice(0, i / 2), ...script]
  return [...astray.slice(0, (i + 1) / 2), ...script.slice(0, -2), `I stop here, at ${i}.`]
}

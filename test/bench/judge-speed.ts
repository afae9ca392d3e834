import type { PrivateKey } from '@libp2p/interface'
import { groupBody, peerIdOfKey } from '../../proto/index.js'
import { createEpisodeRuntime, promptOf, type Rollout } from '../../rollout/episode/index.js'
import {
  completionDigests,
  type EarlierGroup,
  type ExpectedGroup,
  findOverlap,
  verifyGroupBody,
} from '../../rollout/verification/index.js'
import { receiveGroup } from '../../swarm/channels.js'
import type { DemoRuntime } from './demo-stage.js'
import { GROUP_SIZE, LONG_LIMITS, lengthen, type MadeGroup, makeGroup } from './judge-groups.js'
import type { BenchResult } from './result.js'

const GROUPS = 48
const ROUNDS = 5
/** Number of accepted groups of the same task with which each group is compared. */
const EARLIER = 20
/** Tokens of a prompt. With calls and results a rollout then has about 1,500. */
const PROMPT_TOKENS = 1250
const GOAL_PER_SECOND = 200

/** Chat template with tools as JSON, the usual form. The demo model's template needs a fifth of the tokens per tool. */
const JSON_TEMPLATE = [
  "{{- '<|im_start|>system\\n' }}{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}",
  "{{- '<tools>' }}{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}{{- '\\n</tools><|im_end|>\\n' }}",
  "{%- for message in messages %}{%- if message.role != 'system' %}",
  "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}",
  "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}",
].join('')

/**
 * Measures groups per second of CPU time for verification checks 0 to 4 in one thread, in total and for each check. Every group has a
 * different task, so every prompt is rendered once.
 */
export async function measureChecks({ runtime: demo, tasks }: DemoRuntime, key: PrivateKey): Promise<BenchResult[]> {
  const tokenizer = { ...demo.tokenizer, chatTemplate: JSON_TEMPLATE }
  const runtime = createEpisodeRuntime(demo.catalogue.values(), tokenizer, demo, demo.seedStates)
  const runId = peerIdOfKey(key)
  const groups: MadeGroup[] = []
  for (const [i, task] of tasks.slice(0, GROUPS).entries()) {
    groups.push(await makeGroup(lengthen(task, runtime, PROMPT_TOKENS), i, runtime, key, runId))
  }
  const { signal } = new AbortController()
  const earlier: EarlierGroup[] = groups.slice(0, EARLIER).map(({ expected, rollouts }) => ({
    leaseId: expected.leaseId,
    ...completionDigests(rollouts),
  }))
  /** Compares a group with unrelated groups, the usual case. */
  const compare = (rollouts: readonly Rollout[], { leaseId }: ExpectedGroup): void => {
    const others = earlier.filter((other) => other.leaseId !== leaseId)
    if (findOverlap(completionDigests(rollouts), others)) throw new Error('a group was taken for a copy')
  }
  const checks: Readonly<Record<string, (group: MadeGroup) => unknown>> = {
    'stage 0: the announcement opened, its signature checked': ({ sealed }) => receiveGroup(sealed, runId),
    'stage 1: the body decoded and its bounds': ({ bytes }) => groupBody.parse(bytes),
    'stage 2: the prompt rendered': ({ expected: { task } }) => promptOf({ ...task }, runtime, LONG_LIMITS),
    'stages 1 to 3 of a decoded body: prompt and replay': ({ body, expected }) =>
      verifyGroupBody(body, withFreshTask(expected), runtime, signal),
    [`stage 4: compared with ${EARLIER} groups of the task`]: ({ rollouts, expected }) => compare(rollouts, expected),
    'stages 0 to 4': async ({ sealed, bytes, expected }) => {
      await receiveGroup(sealed, runId)
      compare(await verifyGroupBody(groupBody.parse(bytes), withFreshTask(expected), runtime, signal), expected)
    },
  }
  const mean = (of: (group: MadeGroup) => number): number =>
    groups.reduce((sum, group) => sum + of(group), 0) / groups.length
  const perRollout = (count: (rollout: MadeGroup['rollouts'][number]) => number): number =>
    mean(({ rollouts }) => rollouts.reduce((sum, rollout) => sum + count(rollout), 0) / GROUP_SIZE)
  const results: BenchResult[] = [
    { metric: 'tokens of a rollout', value: perRollout(({ tokens }) => tokens.length), unit: 'tokens' },
    { metric: 'calls of a rollout', value: perRollout(({ calls }) => calls.length), unit: 'calls' },
    { metric: 'body of a group', value: mean(({ bytes }) => bytes.length) / 1024, unit: 'KiB' },
  ]
  for (const [metric, work] of Object.entries(checks)) {
    const ms = await processorMs(groups, work)
    results.push({ metric, value: ms, unit: 'ms per group' })
    if (metric === 'stages 0 to 4') {
      const value = 1000 / ms
      results.push({
        ...{ metric: `judged, G = ${GROUP_SIZE}, one core`, value, unit: 'groups/s' },
        ...{ peer: `goal: ${GOAL_PER_SECOND}`, ratio: value / GOAL_PER_SECOND },
      })
    }
  }
  return results
}

/** Returns a task that is new to the episode runtime and otherwise equal. */
const withFreshTask = (expected: ExpectedGroup): ExpectedGroup => ({ ...expected, task: { ...expected.task } })

/** Returns milliseconds of CPU time per group, the best of several rounds: on a shared machine wall time includes other programs. */
async function processorMs(groups: readonly MadeGroup[], work: (group: MadeGroup) => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round <= ROUNDS; round++) {
    const started = process.cpuUsage()
    for (const group of groups) await work(group)
    const { user, system } = process.cpuUsage(started)
    if (round > 0) best = Math.min(best, (user + system) / 1000 / groups.length)
  }
  return best
}

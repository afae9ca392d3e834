import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createBodyJudge } from '../../../coordinator/intake/body-judge.js'
import { replaysHere } from '../../../coordinator/intake/replays.js'
import type { ConfigurationOf } from '../../../coordinator/ledger/run-state.js'
import { groupBody, type SwarmRefusal } from '../../../proto/index.js'
import type { EpisodeLimits } from '../../../rollout/episode/index.js'
import { UNWATCHED } from '../../../rollout/verification/index.js'
import { configurationOf } from '../../support/lease-configuration.js'
import { begun, hex, leased, published } from '../../support/run-events.js'
import { AMPLE, bodyOf, groundTruthScript, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const { signal } = new AbortController()
const replayContext = runtimeOf()
const task = lendingTask()
const script = groundTruthScript(task)

/** A group as an honest node makes it under these limits, with rollouts that a narrower limit would cut. */
async function groupUnder(leaseId: string, limits: EpisodeLimits, size: number) {
  const rollouts = []
  for (let i = 0; i < size; i++)
    rollouts.push(await play(task, i === 0 ? script : ['No.', `No, ${i}.`], replayContext, limits))
  return {
    bytes: groupBody.encode({ ...bodyOf(task, rollouts), leaseId, policyId: hex(1) }),
    announced: {
      rewards: rollouts.map(({ reward }) => reward.total),
      tokensGenerated: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
    },
  }
}

const [OLD, NEW] = ['0a'.repeat(16), '0b'.repeat(16)]
const narrow: EpisodeLimits = { ...AMPLE, maxTurnTokens: 30, maxAssistantTurns: 2 }

test('every group is verified under the run configuration of its own lease', async () => {
  const state = begun()
  for (const event of [published(0), leased(OLD, 'ann', 0), leased(NEW, 'ann', 0, { index: 1 })]) state.apply(event)
  const configuration = new Map([
    [OLD, configurationOf({ groupSize: 3 })],
    [NEW, configurationOf({ groupSize: 2, limits: narrow })],
  ])
  const judgedBy = (ofLease: ConfigurationOf) =>
    createBodyJudge({
      tasks: [task],
      configurationOf: ofLease,
      replays: replaysHere(() => replayContext, UNWATCHED),
      state,
      bodies: { put: async () => hex(6) },
      judgedBodies: { read: async () => Promise.reject(new Error('nobody asked for it')) },
      auditor: null,
      onUnstable: async () => assert.unreachable(),
    })
  const judge = judgedBy((lease) => configuration.get(lease.leaseId)!(lease))
  const groups = [
    [OLD, await groupUnder(OLD, AMPLE, 3)],
    [NEW, await groupUnder(NEW, narrow, 2)],
  ] as const
  for (const [leaseId, { announced, bytes }] of groups) {
    const { rollouts } = await judge.replay(state.leases.get(leaseId)!, announced, bytes, signal)
    assert.is(rollouts.length, announced.rewards.length)
  }
  // By the other's terms each of them would be a lie.
  const codeBy = (ofLease: ConfigurationOf, [leaseId, { announced, bytes }]: (typeof groups)[number]) =>
    judgedBy(ofLease)
      .replay(state.leases.get(leaseId)!, announced, bytes, signal)
      .then(
        () => 'accepted',
        (why: SwarmRefusal) => why.code,
      )
  assert.is(await codeBy(configuration.get(NEW)!, groups[0]), 'wrong_group_size')
  assert.is(await codeBy(configuration.get(OLD)!, groups[1]), 'wrong_group_size')
  assert.is(await codeBy(configurationOf({ groupSize: 2 }), groups[1]), 'termination')
})

test.run()

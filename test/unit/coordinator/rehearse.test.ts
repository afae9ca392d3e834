import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { REHEARSAL, rehearse } from '../../../coordinator/service/rehearse.js'
import type { Engine } from '../../../rollout/engine/types.js'
import { patience } from '../../support/patience.js'
import {
  AMPLE,
  groundTruthScript,
  lendingTask,
  runtimeOf,
  scriptedSource,
  scriptTokenizer,
} from '../../support/scripted.js'

const TASKS = Array.from({ length: 20 }, (_, i) =>
  lendingTask({ turns: [`Please lend emma to Ada. It is wish ${i}.`, 'Now take that loan back.'] }),
)
const runtime = runtimeOf()
const tokenizer = scriptTokenizer()
const NEVER = new AbortController().signal

/** Plays every rollout by the script for its place in the group. */
function engineOf(scriptFor: (rollout: number, group: number) => readonly string[]) {
  let groups = 0
  const engine: Pick<Engine, 'openSlots'> = {
    openSlots: async (requests) => {
      groups += 1
      return requests.map((_, i) => scriptedSource([...scriptFor(i, groups)], tokenizer))
    },
  }
  return { engine, played: () => groups }
}

const play = (scriptFor: (rollout: number, group: number) => readonly string[], groupSize = 4, timeUp = NEVER) => {
  const { engine, played } = engineOf(scriptFor)
  const parts = { tasks: TASKS, engine, runtime, limits: AMPLE, groupSize }
  return { found: rehearse(parts, timeUp, patience()), played }
}

test('a dry run counts what the base model makes of some tasks', async () => {
  const solving = groundTruthScript(TASKS[0]!)
  const found = await play((rollout) => (rollout === 0 ? solving : ['No.', 'No.'])).found
  assert.is(found.groups, REHEARSAL.groups)
  assert.equal([found.rollouts, found.solved, found.silent, found.asked], [32, 8, 24, 32])
  assert.equal([found.zeroVariance, found.cut, found.isWhole], [0, 0, true])
  assert.is(found.calls * 4, found.callsDue)
  assert.ok(found.reward > 0 && found.sampledTokens > 0)
})

test('a useless model shows zero variance and no reward', async () => {
  const found = await play(() => ['No.', 'No.']).found
  assert.equal([found.solved, found.zeroVariance, found.reward], [0, REHEARSAL.groups, 0])
})

test('groups are no larger than the bound, however large the run’s are', async () => {
  assert.is((await play(() => ['No.', 'No.'], 64).found).rollouts, REHEARSAL.groups * REHEARSAL.groupSize)
})

test('a dry run ends with the groups that it has when the time is up', async () => {
  const time = new AbortController()
  const { found, played } = play(
    (_, group) => {
      if (group === 3) time.abort(new Error('the time is up'))
      return ['No.', 'No.']
    },
    4,
    time.signal,
  )
  const { groups, isWhole } = await found
  assert.is(played(), 3)
  assert.equal([groups, isWhole], [2, false])
})

test('a dry run that is stopped from outside, or whose engine fails, says so', async () => {
  const failing: Pick<Engine, 'openSlots'> = {
    openSlots: async () => {
      throw new Error('no engine')
    },
  }
  const parts = { tasks: TASKS, engine: failing, runtime, limits: AMPLE, groupSize: 4 }
  await rehearse(parts, NEVER, patience()).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'no engine'),
  )
})

test.run()

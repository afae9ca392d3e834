import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createBodyJudge } from '../../../coordinator/intake/body-judge.js'
import { replaysHere } from '../../../coordinator/intake/replays.js'
import { groupBody, SwarmRefusal } from '../../../proto/index.js'
import { nondeterministicEnvironments, UNWATCHED } from '../../../rollout/verification/index.js'
import { defineEnvironment } from '../../../servers/kernel/index.js'
import { configurationOf } from '../../support/lease-configuration.js'
import { librarySpec, tools } from '../../support/library-environment.js'
import { begun, hex, leased, published } from '../../support/run-events.js'
import { AMPLE, bodyOf, groundTruthScript, lendingTask, play, recorded, runtimeOf } from '../../support/scripted.js'

// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()
const task = lendingTask()
const sound = runtimeOf()

/** A library whose clerk writes down another date each time he lends the same book in the same session. */
let lent = 0
const moody = runtimeOf([
  defineEnvironment({
    ...librarySpec,
    tools: Object.values({
      ...tools,
      lendBook: {
        ...tools.lendBook,
        run: (...args: Parameters<typeof tools.lendBook.run>) => ({
          ...tools.lendBook.run(...args),
          lucky_number: lent++,
        }),
      },
    }),
  }),
])

test('a world that answers alike is sound, whatever the recording claims', async () => {
  const honest = recorded(await play(task, groundTruthScript(task), sound))
  assert.equal(await nondeterministicEnvironments(honest, task, AMPLE, sound, signal), [])
  const bent = { ...honest, stateHash: hex(1), calls: [] }
  assert.equal(await nondeterministicEnvironments(bent, task, AMPLE, sound, signal), [])
  const cut = { ...honest, maskRuns: honest.maskRuns.slice(0, 2) }
  assert.equal(await nondeterministicEnvironments(cut, task, AMPLE, sound, signal), [])
})

test('a world that answers the same call differently in fresh sessions is named', async () => {
  const rollout = recorded(await play(task, groundTruthScript(task), moody))
  assert.equal(await nondeterministicEnvironments(rollout, task, AMPLE, moody, signal), ['library'])
})

test('a group whose replay differs because of its world is refused for that, and its node is not blamed', async () => {
  const state = begun()
  state.apply(published(0))
  const lease = leased('lease', 'ann', 0)
  state.apply(lease)
  const blamed: string[] = []
  const judge = createBodyJudge({
    tasks: [task],
    configurationOf: configurationOf({ groupSize: 2 }),
    replays: replaysHere(() => moody, UNWATCHED),
    state,
    auditor: null,
    bodies: {} as never,
    judgedBodies: {} as never,
    onUnstable: async (environmentName) => void blamed.push(environmentName),
  })
  const rollouts = [await play(task, groundTruthScript(task), moody), await play(task, ['No.', 'No.'], moody)]
  const bytes = groupBody.encode({ ...bodyOf(task, rollouts), leaseId: 'ab'.repeat(16), policyId: hex(1) })
  const tokensGenerated = rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
  const announcement = { rewards: rollouts.map(({ reward }) => reward.total), tokensGenerated }
  const replay = judge.replay({ ...lease, leaseId: 'ab'.repeat(16) }, announcement, bytes, signal)
  const error = await replay.then(
    () => null,
    (why: unknown) => why,
  )
  assert.instance(error, SwarmRefusal)
  assert.is((error as SwarmRefusal).code, 'environment_nondeterministic')
  assert.equal(blamed, ['library'])
})

test.run()

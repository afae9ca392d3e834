import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EpisodeError, type EpisodeRuntime, rulesNamed, type Task } from '../../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { createSeedStateCache } from '../../../servers/kernel/index.js'
import { PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../../tasks/synthesis/index.js'
import { DEMO_ENVIRONMENTS } from '../../support/demo-tasks.js'
import { library } from '../../support/library-environment.js'
import {
  AMPLE,
  groundTruthScript,
  lendingTask,
  play,
  runtimeOf,
  scriptTokenizer,
  writeCall,
} from '../../support/scripted.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const tokenizer = scriptTokenizer()
const LONG = { ...AMPLE, maxRolloutTokens: 200_000, maxAssistantTurns: 40 }
const runtimeFor = (reward: string, environments = [library]): EpisodeRuntime =>
  runtimeOf(environments, tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward }))

const task = lendingTask()
const [lend, afterLoan, takeBack] = groundTruthScript(task) as [string, string, string]
const wrongReader = writeCall('lend_book', { book: 'emma', reader: 'Bo' })

const lending = lendingTask({ turns: [task.turns[0]!], groundTruth: [task.groundTruth[0]!] })
const another = writeCall('lend_book', { book: 'walden', reader: 'Bo' })

const RUNS: readonly (readonly [
  what: string,
  task: Task,
  script: readonly string[],
  paper: number,
  outcome: number,
])[] = [
  ['two calls as they should be', task, groundTruthScript(task), 1.3, 1],
  [
    'a look-up first, which changes nothing',
    task,
    [writeCall('list_books', {}), ...groundTruthScript(task)],
    1.233,
    0.9333,
  ],
  ['the first of two calls alone', task, [lend, 'Done.', 'Done.'], 1.05, 0.25],
  ['a loan to the wrong reader that is over', task, [wrongReader, afterLoan, takeBack, 'Done.'], 1.275, -0.3833],
  ['nothing, where nothing would be left of the calls', task, ['No.', 'No.'], 0, 0],
  ['a loan as it should be', lending, groundTruthScript(lending), 1.3, 1],
  ['a loan to the wrong reader', lending, [wrongReader, 'Done.'], 1.25, -0.35],
  ['a second loan that the user did not ask for', lending, [lend, another, 'Done.'], 1.3, 0.15],
  ['nothing, where a loan should be', lending, ['No.'], 0, 0],
]
for (const [what, played, script, paper, outcome] of RUNS) {
  test(`what is played earns what its reward says: ${what}`, async () => {
    for (const [reward, expected] of [
      ['paper', paper],
      ['outcome', outcome],
    ] as const) {
      const { reward: earned } = await play(played, script, runtimeFor(reward))
      assert.ok(Math.abs(earned.total - expected) < 0.0005, `${reward}: ${earned.total}`)
      assert.equal(Object.keys(earned.components!), REWARD_PRESETS.get(reward)!.components)
    }
  })
}

test('on synthesised tasks the ground truth earns the maximum of every preset, and calls that all fail earn less', async () => {
  const environments = DEMO_ENVIRONMENTS.map((name) => CATALOGUE.get(name)!)
  const context = contextFor(environments, PAPER_PROFILE, 11, createSeedStateCache())
  const tasks = [...streamExamples(context, 'train', 60)].map((example) => example.task)
  for (const { name, maximum } of REWARD_PRESETS.values()) {
    const runtime = runtimeFor(name, environments)
    for (const one of tasks) {
      const best = await play(one, groundTruthScript(one), runtime, LONG)
      assert.is(best.reward.total, one.groundTruth.length > 0 ? maximum.calls : maximum.noCall, one.chain)
      const broken = { ...one, groundTruth: one.groundTruth.map((call) => ({ ...call, arguments: { nothing: null } })) }
      const failed = await play(one, groundTruthScript(broken), runtime, LONG)
      assert.ok(failed.calls.every((call) => call.malformed || !call.ok))
      if (one.groundTruth.length > 0) assert.ok(failed.reward.total < best.reward.total, one.chain)
    }
  }
})

test('what the ground truth leads to is found out once per task, and only for a reward that asks', async () => {
  for (const [reward, opened] of [
    ['paper', [1, 2]],
    ['outcome', [2, 3]],
  ] as const) {
    const runtime = runtimeFor(reward)
    let sessions = 0
    const { seedStates: environments } = runtime
    const open = environments.open.bind(environments)
    environments.open = (...environment) => {
      sessions++
      return open(...environment)
    }
    for (const expected of opened) {
      await play(task, groundTruthScript(task), runtime)
      assert.is(sessions, expected, reward)
    }
  }
})

test('a task whose own calls fail is refused by a reward that needs to know where they lead', async () => {
  const second = { ...task.groundTruth[0]!, turn: 1 }
  const twice: Task = lendingTask({ groundTruth: [task.groundTruth[0]!, second] })
  assert.is((await play(twice, ['No.', 'No.'], runtimeFor('paper'))).reward.total, 0)
  const error = await play(twice, ['No.', 'No.'], runtimeFor('outcome')).catch((cause: unknown) => cause)
  assert.instance(error, EpisodeError)
  assert.match((error as EpisodeError).message, /^bad_task: ground-truth call 1: lend_book: .*another reader/)
})

test.run()

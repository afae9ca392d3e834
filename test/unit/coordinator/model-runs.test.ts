import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { trainingOf } from '../../../coordinator/ledger/agree-run-configuration.js'
import { ConfigError, readConfig } from '../../../coordinator/settings/config.js'
import { checkPromptCapacity } from '../../../coordinator/settings/first-prompts.js'
import { learningRateFor } from '../../../coordinator/settings/learning-rates.js'
import { rulesNamed, toolCallFormatNamed } from '../../../rollout/episode/index.js'
import { checkout } from '../../support/checkout.js'
import { library } from '../../support/library-environment.js'
import { AMPLE, lendingTask, runtimeOf, scriptTokenizer } from '../../support/scripted.js'

const FOLDER = join(checkout, 'runs')
/** Parameters of the models that runs are shipped for. */
const PARAMETERS: Readonly<Record<string, number>> = {
  'Qwen/Qwen3-4B-Instruct-2507': 4.0e9,
  'Qwen/Qwen3-8B': 8.2e9,
  'Qwen/Qwen2.5-7B-Instruct': 7.6e9,
  'ibm-granite/granite-4.1-8b': 8.4e9,
  'HuggingFaceTB/SmolLM2-135M-Instruct': 1.35e8,
  'Qwen/Qwen3-0.6B': 6e8,
  'ibm-granite/granite-4.0-350m': 3.5e8,
}
/** Runs of models that fit a small machine, without the settings of the paper. */
const SMALL_PARAMETERS = 1e9
const configs = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => readConfig(join(FOLDER, file)))

test('there is one run for each model, and none for another', () => {
  assert.equal(configs.map(({ base }) => base.name).sort(), Object.keys(PARAMETERS).sort())
})

test('runs of large models have the settings of the paper', () => {
  const large = configs.filter(({ base }) => PARAMETERS[base.name]! >= SMALL_PARAMETERS)
  assert.is(large.length, 4)
  for (const { groupSize, batchGroups, versions, limits, reward, trainer, maxStaleness, base } of large) {
    assert.equal([groupSize, batchGroups, versions, reward], [16, 16, 350, 'paper'], base.name)
    assert.equal([limits.maxRolloutTokens, limits.maxAssistantTurns], [12_384 + 16_384, 10], base.name)
    const { advantage, clipLow, clipHigh, dualClip, klCoefficient } = trainingOf({ trainer, maxStaleness }, 1).loss!
    assert.equal([advantage, clipLow, clipHigh, dualClip, klCoefficient], ['group', 0.2, 0.2, 3, 0.01], base.name)
  }
})

test('their learning rates are those of the table for models of their size, where none was measured', () => {
  for (const { trainer, base } of configs.filter(({ base }) => base.name !== 'HuggingFaceTB/SmolLM2-135M-Instruct'))
    assert.is(trainer.settings.optimizer?.lr, learningRateFor(PARAMETERS[base.name]!).lr, base.name)
})

test('a model that can think and answers in ten turns is asked not to', () => {
  const thinking = configs.map(({ base }) => [base.name, toolCallFormatNamed(base.toolCallFormat).thinking] as const)
  assert.equal(
    thinking.filter(([, stated]) => stated !== null),
    [
      ['Qwen/Qwen3-0.6B', 'off'],
      ['Qwen/Qwen3-8B', 'off'],
    ],
  )
})

test('a base model whose chat template does not fit the tool-call format is refused before a run begins', () => {
  const runtime = runtimeOf([library], scriptTokenizer(), rulesNamed({ toolCallFormat: 'granite', reward: 'paper' }))
  assert.throws(
    () => checkPromptCapacity([lendingTask()], runtime, AMPLE),
    (error: unknown) =>
      error instanceof ConfigError &&
      /^base\.toolCallFormat does not fit .*prompts end with .*granite/.test(error.message),
  )
})

test.run()

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { parseConfig } from '../../../coordinator/settings/config.js'
import { configFields } from '../../../coordinator/settings/describe-fields.js'
import { LEARNING_RATES, learningRateFor } from '../../../coordinator/settings/learning-rates.js'
import { proposedFields, type RunProposal } from '../../../coordinator/settings/proposed-run.js'
import { runFileText } from '../../../coordinator/settings/run-file.js'
import type { ModelFacts } from '../../../rollout/engine/index.js'

const FOLDER = '/runs/first'
const WISHES: RunProposal = {
  ...{
    base: '/models/base.gguf',
    dataset: '/runs/first/tasks',
    dataDir: '/runs/first/data',
    name: 'a model',
    environments: [],
  },
  ...{ operator: 'Ada: "me", #1', purpose: '', port: 4001, announce: ['/dns4/run.example/tcp/1'], calibrations: [] },
}
const facts = (parameters: number): ModelFacts => {
  return { parameters, architecture: 'qwen3', name: null, quantisation: 'q8_0' }
}
const textFor = (parameters: number, prompt: number | null): string =>
  runFileText(proposedFields(WISHES, { facts: facts(parameters), folder: FOLDER, prompt, toolCallFormat: 'hermes' }))
const configFor = (text: string) => parseConfig(text, `${FOLDER}/run.yaml`)

test('a new run.yaml is what the operator said, and everything else as it is by default', () => {
  const config = configFor(textFor(5e6, 300))
  assert.equal(config.about, { operator: 'Ada: "me", #1', purpose: '' })
  assert.equal([config.base.path, config.base.name, config.base.quantisation], ['/models/base.gguf', 'a model', 'q8_0'])
  assert.equal([config.dataDir, config.tasks.dataset], ['/runs/first/data', ['/runs/first/tasks']])
  assert.equal(config.announce, ['/dns4/run.example/tcp/1'])
  assert.equal([config.groupSize, config.versions, config.dashboard.listen], [8, 350, '127.0.0.1:4080'])
  assert.match(textFor(5e6, 300), /^ {2}dataset: tasks$/m, 'paths within the folder are relative')
})

test('it names every field with its meaning, and a default that is uncommented changes nothing', () => {
  const text = textFor(5e6, 300)
  const given = new Set(
    proposedFields(WISHES, { facts: facts(5e6), folder: FOLDER, prompt: 300, toolCallFormat: 'hermes' }).keys(),
  )
  const uncommented: unknown = parse(text.replaceAll(/^\s*# \S.*\n/gm, '').replaceAll(/^#/gm, ''))
  for (const { path, standard } of configFields().filter((field) => !given.has(field.path))) {
    const value = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], uncommented)
    assert.equal(value ?? undefined, standard, path)
  }
})

test('limits fit the longest prompt, and the learning rate fits the size of the model', () => {
  const large = configFor(textFor(4e9, 3000))
  assert.ok(large.limits.maxRolloutTokens >= 3000 + 4 * large.limits.maxTurnTokens)
  assert.is(large.trainer.settings.optimizer?.lr, 2e-5)
  const small = configFor(textFor(5e6, null))
  assert.equal([small.limits.maxRolloutTokens, small.limits.maxTurnTokens], [1024, 96])
  assert.is(small.trainer.settings.optimizer?.lr, 1e-3)
})

test('learning rates fall with the size of the model', () => {
  const rates = LEARNING_RATES.map(({ lr }) => lr)
  assert.equal(
    rates,
    [...rates].sort((a, b) => b - a),
  )
  assert.is(learningRateFor(8e9).lr, learningRateFor(4e9).lr)
  assert.is(learningRateFor(1e12), LEARNING_RATES.at(-1))
})

test.run()

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TrainerStep } from '../../../coordinator/jobs/step-folder.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import type { TaskSet } from '../../../coordinator/settings/task-set.js'
import { provenanceOf } from '../../../coordinator/versions/provenance.js'
import { agreed, batched, CONFIGURATION, hex, published, trained } from '../../support/run-events.js'

const recipe = (lr: number, sources = 'a') => ({
  settings: { optimizer: { lr }, seed: 0 },
  program: { trainer: '0.1.0', sourcesSha256: sources },
})

const madeStep = (step: number, change: Partial<TrainerStep> = {}): TrainerStep => ({
  step,
  batchId: `batch-${step}`,
  skipped: null,
  worldSize: 1,
  adapterStep: step,
  lora: { rank: 4, alpha: 8, targetModules: ['q_proj'] },
  recipe: recipe(1e-3),
  warmStart: null,
  files: {
    'adapter/README.md': hex(1),
    'adapter/adapter_config.json': hex(2),
    'adapter/adapter_model.safetensors': hex(3),
    'adapter.gguf': hex(4),
    'optimizer.safetensors': hex(5),
    'rng.json': hex(6),
    'base/config.json': hex(7),
  },
  stats: null,
  canaries: [],
  folder: '',
  ...change,
})

interface Provenance {
  readonly step: number
  readonly files: Readonly<Record<string, string>>
  readonly steps: readonly { readonly step: number; readonly configuration: number; readonly recipe: number | null }[]
  readonly recipes: readonly ReturnType<typeof recipe>[]
  readonly configuration: readonly Readonly<Record<string, unknown>>[]
}

/** A run whose steps are made as told: the log up to each, then what is published with it. */
function run(steps: readonly TrainerStep[], before: Readonly<Record<number, RunEvent>> = {}): Provenance[] {
  const state = new RunReducer()
  const log = (...events: RunEvent[]): void => {
    // What the disk holds is what is folded after a restart.
    for (const event of events) state.apply(JSON.parse(JSON.stringify(event)) as RunEvent)
  }
  log(agreed(), published(0))
  const taskSet = { datasetSha256: hex(0), tasks: [] } as unknown as TaskSet
  const parts = { runId: 'run', state, base: CONFIGURATION.base, taskSet, program: '0.1.0', derivation: null }
  return steps.map((made) => {
    const { step, adapterStep } = made
    if (before[step]) log(before[step])
    log(batched(`batch-${step}`, step, ['l']))
    const provenance = JSON.parse(JSON.stringify(provenanceOf(step, made, parts))) as Provenance
    log(published(step, { adapterStep, recipe: made.recipe }), trained(`batch-${step}`, step))
    return provenance
  })
}

test('after a setting was changed in the middle of a run, each step still says by which one it was made', () => {
  const changed = agreed({ batchGroups: 9, training: { optimizer: { lr: 1e-4 } } })
  const steps = [1, 2, 3, 4].map((step) => madeStep(step, { recipe: recipe(step < 3 ? 1e-3 : 1e-4) }))
  const last = run(steps, { 3: changed }).at(-1)!
  const rates = last.steps.map(({ step, recipe: place }) => [step, last.recipes[place!]!.settings.optimizer.lr])
  assert.equal(rates, [
    [1, 1e-3],
    [2, 1e-3],
    [3, 1e-4],
    [4, 1e-4],
  ])
  assert.is(last.recipes.length, 2, 'what steps have in common stands there once')
  const groups = last.steps.map(({ configuration }) => last.configuration[configuration]!.batchGroups)
  assert.equal(groups, [2, 2, 9, 9], 'and under which terms its batch was formed')
  assert.ok(
    last.configuration.every((configuration) => !('training' in configuration)),
    'what was asked for is not given out as what was done',
  )
})

test('a change of the program shows in the steps that it made', () => {
  const steps = [1, 2].map((step) => madeStep(step, { recipe: recipe(1e-3, step === 1 ? 'a' : 'b') }))
  const last = run(steps).at(-1)!
  const sources = last.steps.map(({ recipe: place }) => last.recipes[place!]!.program.sourcesSha256)
  assert.equal(sources, ['a', 'b'])
})

test('a step whose trainer did not say how it made it is not given the settings of another', () => {
  const last = run([madeStep(1, { recipe: null }), madeStep(2)]).at(-1)!
  const places = last.steps.map(({ recipe: place }) => place)
  assert.equal(places, [null, 0])
})

test('a version that restores an earlier adapter has the provenance of that one', () => {
  const [first, , back] = run([madeStep(1), madeStep(2), madeStep(3, { adapterStep: 1, recipe: recipe(1e-4) })])
  assert.equal([back!.step, back!.steps], [1, first!.steps])
  assert.equal(back!.recipes, [recipe(1e-3)])
})

test('only files of the model are listed, by the names that a researcher finds them under', () => {
  const [{ files }] = run([madeStep(1)]) as [Provenance]
  assert.equal(files, {
    'adapter.gguf': hex(4),
    'adapter_model.safetensors': hex(3),
    'adapter_config.json': hex(2),
    'base/config.json': hex(7),
  })
})

test.run()

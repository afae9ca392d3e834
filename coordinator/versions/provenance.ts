import canonicalize from 'canonicalize'
import { PUBLISHED_FILES } from '../../proto/index.js'
import type { TrainerStep } from '../jobs/step-folder.js'
import type { Recipe, RunState } from '../ledger/run-state.js'
import type { TaskSet } from '../settings/task-set.js'
import type { PolicyFrame } from './policy-frame.js'
import type { Derivation } from './training-evidence.js'

export interface ProvenanceParts {
  readonly runId: string
  readonly state: Pick<RunState, 'batchesBehind' | 'nodes' | 'scores' | 'configurationHistory'>
  readonly base: PolicyFrame['base']
  readonly taskSet: TaskSet
  /** Version of the coordinator. */
  readonly program: string
  /** Null: version 0, or a part of the evidence is lost. */
  readonly derivation: Derivation | null
}

const MEASURED = ['groups', 'rollouts', 'rewardMean', 'rewardSpread', 'mismatchKl', 'entropy', 'gradNorm', 'lossTokens']

const numberOf = (stats: Readonly<Record<string, unknown>>, name: string): [string, number][] => {
  const value = stats[name]
  return typeof value === 'number' ? [[name, value]] : []
}

/**
 * Returns the provenance of an adapter (docs/use-a-model/pull.md). It contains each step behind the adapter with its batch, the run
 * configuration in force, and the settings and program that the trainer reports. Values that several steps share are listed once, in
 * `configuration` and `recipes`, and referred to by index.
 */
export function provenanceOf(
  version: number,
  made: TrainerStep,
  { runId, state, base, taskSet, program, derivation }: ProvenanceParts,
): object {
  const recipes: Recipe[] = []
  const places = new Map<string, number>()
  const placeOf = (recipe: Recipe): number => {
    const name = canonicalize(recipe)!
    const place = places.get(name) ?? recipes.push(recipe) - 1
    places.set(name, place)
    return place
  }
  const steps = state.batchesBehind(made.adapterStep).map(({ step, batchId, groups, configuration, recipe: known }) => {
    // This publication records the recipe of the current step.
    const recipe = step === made.step ? made.recipe : known
    return { step, batchId, groups, configuration, recipe: recipe && placeOf(recipe) }
  })
  return {
    schema: 2,
    run: runId,
    version,
    /** Step whose update made the adapter; 0: none. */
    step: made.adapterStep,
    base,
    files: Object.fromEntries(
      PUBLISHED_FILES.flatMap(({ name, inStep, evidence }) => {
        const sha256 = inStep === null || evidence ? undefined : made.files[inStep]
        return sha256 === undefined ? [] : [[name, sha256]]
      }),
    ),
    tasks: { dataset: taskSet.datasetSha256, examples: taskSet.tasks.length },
    /** Supervised training of version 0; null: version 0 is the base model. */
    warmStart: made.warmStart,
    volunteers: state.nodes.size,
    coordinator: program,
    /** Numbers of the current step's batch, as the trainer reports them: training tasks, sampled by earlier versions. */
    measured: made.stats && Object.fromEntries(MEASURED.flatMap((name) => numberOf(made.stats!, name))),
    /** Hashes of everything that determines the step. The manifest has those of its results, and `recipes` settings and program. */
    derivation,
    /** Scores of earlier versions on held-out tasks: the first and the newest. */
    heldOut: state.scores.map(({ type: _, atMs: __, ...score }) => score),
    steps,
    recipes,
    // The recipes contain the training settings, as the trainer understood them.
    configuration: state.configurationHistory.map(
      ({ configuration: { training: _, ...configuration }, fromRound, configurationId }) => ({
        fromRound,
        configurationId,
        ...configuration,
      }),
    ),
  }
}

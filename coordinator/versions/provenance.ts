import canonicalize from 'canonicalize'
import { PUBLISHED_FILES } from '../../proto/index.js'
import type { TrainerStep } from '../jobs/step-folder.js'
import type { Recipe, RunState } from '../ledger/run-state.js'
import type { TaskSet } from '../settings/task-set.js'
import type { PolicyFrame } from './policy-frame.js'

export interface ProvenanceParts {
  readonly runId: string
  readonly state: Pick<RunState, 'batchesBehind' | 'nodes' | 'scores' | 'configurationHistory'>
  readonly base: PolicyFrame['base']
  readonly taskSet: TaskSet
  /** Of the coordinator. */
  readonly program: string
}

const MEASURED = ['groups', 'rollouts', 'rewardMean', 'rewardSpread', 'mismatchKl', 'entropy', 'gradNorm', 'lossTokens']

const numberOf = (stats: Readonly<Record<string, unknown>>, name: string): [string, number][] => {
  const value = stats[name]
  return typeof value === 'number' ? [[name, value]] : []
}

/**
 * How an adapter came about (docs/researching.md): each step behind it with its batch, the terms under which that was formed, and the
 * settings and the program by which its trainer says that it made it. What several steps have in common stands there once, in `terms`
 * and `recipes`, and is named by its place.
 */
export function provenanceOf(
  version: number,
  made: TrainerStep,
  { runId, state, base, taskSet, program }: ProvenanceParts,
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
    // The recipe of the step in hand enters the log with this very publication.
    const recipe = step === made.step ? made.recipe : known
    return { step, batchId, groups, configuration, recipe: recipe && placeOf(recipe) }
  })
  return {
    schema: 2,
    run: runId,
    version,
    /** Whose update made the adapter; 0: none did. */
    step: made.adapterStep,
    base,
    files: Object.fromEntries(
      PUBLISHED_FILES.flatMap(({ name, inStep }) => {
        const sha256 = inStep === null ? undefined : made.files[inStep]
        return sha256 === undefined ? [] : [[name, sha256]]
      }),
    ),
    tasks: { dataset: taskSet.datasetSha256, examples: taskSet.tasks.length },
    volunteers: state.nodes.size,
    coordinator: program,
    /** Of the batch of the step in hand, as its trainer says: rewards of training tasks, sampled by the versions before it. */
    measured: made.stats && Object.fromEntries(MEASURED.flatMap((name) => numberOf(made.stats!, name))),
    /** Of versions before this one, on tasks that nobody trains on: the first that has a score, and the newest. */
    heldOut: state.scores.map(({ type: _, atMs: __, ...score }) => score),
    steps,
    recipes,
    // What the operator asked of the trainer is in the recipes, as it was understood.
    configuration: state.configurationHistory.map(
      ({ configuration: { training: _, ...configuration }, fromRound, configurationId }) => ({
        fromRound,
        configurationId,
        ...configuration,
      }),
    ),
  }
}

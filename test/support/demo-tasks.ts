import { createSeedStateCache } from '../../servers/kernel/index.js'
import { DEMO_PROFILE, type Example, writeDataset } from '../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../tasks/synthesis/index.js'
import { CATALOGUE } from './spoken-catalogue.js'

/** The environments whose vocabulary the demo model has learned. */
export const DEMO_ENVIRONMENTS = ['banking', 'calendar', 'email', 'issue_tracker'] as const

/**
 * Writes a small data set of the demo profile, as `prove-lab synthesize --profile demo` would.
 * @param each  changes an example
 */
export async function writeDemoTasks(
  folder: string,
  training: number,
  heldOut: number,
  each: (example: Example) => Example = (example) => example,
  names: readonly string[] = DEMO_ENVIRONMENTS,
): Promise<void> {
  const environments = names.map((name) => CATALOGUE.get(name)!)
  const context = contextFor(environments, DEMO_PROFILE, 1, createSeedStateCache())
  async function* examples(): AsyncGenerator<Example> {
    for (const example of streamExamples(context, 'train', training)) yield each(example)
    for (const example of streamExamples(context, 'held-out', heldOut))
      yield each({ ...example, index: training + example.index })
  }
  await writeDataset(
    folder,
    examples(),
    {
      title: 'Tasks for a test',
      profile: DEMO_PROFILE,
      seed: 1,
      settings: {},
      provenance: [],
      diversity: () => ({}),
      outcome: () => ({ drops: {} }),
    },
    new Map(environments.map((environment) => [environment.name, environment])),
  )
}

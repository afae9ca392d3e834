import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CodedError } from '../../../common/errors/index.js'
import { withSection } from '../../../tasks/dataset/card.js'
import {
  addProfiles,
  openDataset,
  type PolicyProfile,
  PROFILES_FILE,
  verifyDataset,
  writeDataset,
} from '../../../tasks/dataset/index.js'
import { catalogue, info, makeExamples, seedStates, stream } from '../../support/dataset-examples.js'
import { patience } from '../../support/patience.js'
import { stated } from '../../support/stated.js'

const test = suite<{ folder: string }>('profiles of policies')

const measured = (solved: number): PolicyProfile['overall'] => ({
  n: 4,
  calls_reference: 2.5,
  greedy: {
    solved: { mean: solved, stderr: 0.25 },
    calls: { mean: 2, stderr: 0.5 },
    'reward.paper': { mean: 1.1, stderr: 0.1 },
    'failure.no_call': { mean: 0.1, stderr: 0.1 },
    'failure.wrong_arguments': { mean: 0.4, stderr: 0.1 },
  },
  sampled: {
    solved: { mean: solved / 2, stderr: 0 },
    'pass@8': { mean: 0.75, stderr: 0.25 },
    'pass^8': { mean: 0, stderr: 0 },
    'zero_variance.paper': { mean: 0.5, stderr: 0.25 },
  },
})

const profile = (label: string, sha256: string, solved = 0.5): PolicyProfile => ({
  label,
  policy: { kind: 'base', sha256: sha256.repeat(64) },
  program: '0.1.0',
  split: 'held-out',
  split_sha256: 'a'.repeat(64),
  ...{ samples: 8, temperature: 1, seed: 0, tool_call_format: 'hermes' },
  limits: { max_turn_tokens: 96, max_rollout_tokens: 1024, max_assistant_turns: 10, max_calls: 24 },
  overall: measured(solved),
  environments: { banking: measured(solved), maps: measured(0) },
})

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-profiles-'))
    await writeDataset(join(context.folder, 'new'), stream(makeExamples(5)), info, catalogue)
  }),
)
test.before.each(({ folder }) => cp(join(folder, 'new'), join(folder, 'tasks'), { recursive: true }))
test.after.each(({ folder }) => rm(join(folder, 'tasks'), { recursive: true }))
test.after(({ folder }) => rm(folder, { recursive: true }))

const inDataset =
  (use: (folder: string) => Promise<void>) =>
  ({ folder }: { folder: string }): Promise<void> =>
    use(join(folder, 'tasks'))

const add = async (folder: string, ...profiles: PolicyProfile[]): Promise<string> =>
  addProfiles(await openDataset(folder, catalogue), profiles)
const verify = async (folder: string) =>
  verifyDataset(await openDataset(folder, catalogue), catalogue, seedStates, patience())
const cardOf = (folder: string): Promise<string> => readFile(join(folder, 'README.md'), 'utf8')
const rowsOf = (card: string): string[] => card.split('\n').filter((line) => /^\| (smollm2|warm)/.test(line))

test(
  'profiles are written into the card, and the data set still verifies',
  inDataset(async (folder) => {
    const before = await cardOf(folder)
    await add(folder, profile('smollm2', '1'))
    await add(folder, profile('warm', '2', 0.75))
    const card = await cardOf(folder)
    assert.equal(rowsOf(card), [
      '| smollm2 | 4 | 1 | 8 | 50.0 ± 25.0 | 25.0 | 75.0 ± 25.0 | 0.0 | 50.0 ± 25.0 | 1.100 ± 0.100 | 2.00 ± 0.50 (2.50) | wrong arguments (40.0) |',
      '| warm | 4 | 1 | 8 | 75.0 ± 25.0 | 37.5 | 75.0 ± 25.0 | 0.0 | 50.0 ± 25.0 | 1.100 ± 0.100 | 2.00 ± 0.50 (2.50) | wrong arguments (40.0) |',
    ])
    assert.ok(card.includes('| banking | 50 / 25 / 75 | 75 / 38 / 75 |'), card)
    const [start] = card.split('\n## Profiles of policies\n')
    assert.ok(before.startsWith(start!) && before.endsWith(card.slice(card.indexOf('\n## Fields\n'))))
    assert.is((await verify(folder)).examples, 5)
  }),
)

test(
  'the same policy is replaced, by its file or by its label',
  inDataset(async (folder) => {
    await add(folder, profile('smollm2', '1'), profile('warm', '2'))
    const once = await cardOf(folder)
    await add(folder, profile('warm', '2'))
    assert.is(await cardOf(folder), once)
    await add(folder, profile('warm', '3', 0.25))
    await add(folder, profile('smollm2 renamed', '1'))
    assert.equal(
      rowsOf(await cardOf(folder)).map((row) => row.slice(0, 30)),
      ['| warm | 4 | 1 | 8 | 25.0 ± 25', '| smollm2 renamed | 4 | 1 | 8 '],
    )
    await verify(folder)
  }),
)

test(
  'other sections that are added keep the profiles',
  inDataset(async (folder) => {
    const section = await add(folder, profile('smollm2', '1'))
    const card = await cardOf(folder)
    const annotated = withSection(withSection(card, '## Annotations\n\nOnce.'), '## Annotations\n\nAgain.')
    assert.ok(annotated.includes(section) && annotated.includes('Again.') && !annotated.includes('Once.'))
    assert.is(withSection(annotated, section), annotated)
  }),
)

test(
  'profiles that were changed by hand are found',
  inDataset(async (folder) => {
    await add(folder, profile('smollm2', '1'))
    const [path, card] = [join(folder, PROFILES_FILE), join(folder, 'README.md')]
    const [profiles, shown] = [await readFile(path, 'utf8'), await readFile(card, 'utf8')]
    const code = (): Promise<string> =>
      verify(folder).then(
        () => 'verified',
        (error: CodedError) => error.code,
      )
    await writeFile(path, profiles.replace('0.75', '0.95'))
    assert.is(await code(), 'wrong_hash')
    await writeFile(path, profiles)
    await writeFile(card, shown.replace('75.0', '95.0'))
    assert.is(await code(), 'wrong_hash')
    await writeFile(card, shown)
    assert.is(await code(), 'verified')
  }),
)

test.run()

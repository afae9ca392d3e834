import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { CARD_FILE, withSection } from './card.js'
import { DatasetError } from './errors.js'
import { checkFile, describeFile, MANIFEST_FILE, type Manifest, serializeManifest } from './manifest.js'
import { markdownTable, number } from './markdown.js'
import type { Dataset } from './read.js'

/** The measurements of policies on the data set, from which the card's table is rendered. */
export const PROFILES_FILE = 'policy-profiles.json'
const MAX_PROFILES_BYTES = 4 << 20
const HEADING = '## Profiles of policies'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const mean = z.strictObject({ mean: z.number(), stderr: z.number().min(0).nullable() })
const measures = z.record(z.string().max(100), mean)
const measured = z.strictObject({
  n: z.int().min(1),
  calls_reference: z.number().min(0),
  greedy: measures.exactOptional(),
  sampled: measures.exactOptional(),
})

const profileShape = z.strictObject({
  /** Name of the policy in tables. */
  label: z.string().regex(/^[^\p{C}`|]{1,300}$/u),
  policy: z.strictObject({
    kind: z.enum(['base', 'adapter', 'merged', 'endpoint']),
    /** SHA-256 of the model file or of the adapter. */
    sha256: sha256.exactOptional(),
    /** SHA-256 of the adapter's base model. */
    base_sha256: sha256.exactOptional(),
    /** Name of a server's model. */
    model: z.string().max(300).exactOptional(),
  }),
  /** Version of the program that measured. */
  program: z.string().max(40),
  split: z.enum(['train', 'validation', 'held-out']),
  /** SHA-256 of the split's JSON lines. */
  split_sha256: sha256,
  /** Rollouts per task at `temperature`; 0: none. */
  samples: z.int().min(0),
  temperature: z.number().min(0),
  seed: z.int().min(0),
  tool_call_format: z.string().max(100),
  limits: z.strictObject({
    max_turn_tokens: z.int(),
    max_rollout_tokens: z.int(),
    max_assistant_turns: z.int(),
    max_calls: z.int(),
  }),
  overall: measured,
  environments: z.record(z.string().max(64), measured),
})

/** The measurement of one policy. docs/use-a-model/pull.md defines the measures. */
export type PolicyProfile = z.output<typeof profileShape>

const fileShape = z.strictObject({ schema: z.literal(1), profiles: z.array(profileShape).max(1000) })

/** Whether a data set has profiles of policies. */
const hasProfiles = ({ files }: Manifest): boolean => files.some(({ path }) => path === PROFILES_FILE)

/** Reads the profiles of a data set; none if it has no such file. @throws DatasetError `missing_file`, `wrong_hash`, `bad_manifest` */
export async function readProfiles({ folder, manifest }: Dataset): Promise<readonly PolicyProfile[]> {
  if (!hasProfiles(manifest)) return []
  await checkFile(folder, manifest, PROFILES_FILE)
  const path = join(folder, PROFILES_FILE)
  const refuse = (problem: string): never => {
    throw new DatasetError('bad_manifest', `${path}: ${problem}. Fetch the data set again, or profile it again.`)
  }
  const { size } = await stat(path)
  if (size > MAX_PROFILES_BYTES) refuse(`${size} bytes, and the file has at most ${MAX_PROFILES_BYTES}`)
  let value: unknown
  try {
    value = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    refuse(`not JSON (${(cause as Error).message.slice(0, 120)})`)
  }
  const parsed = fileShape.safeParse(value)
  if (!parsed.success) refuse(z.prettifyError(parsed.error).replaceAll(/\s+/g, ' ').slice(0, 400))
  return parsed.data!.profiles
}

/**
 * Adds profiles to a data set and renders the table in its card. A profile replaces the earlier one of the same policy or label.
 * @returns  section of the card
 * @throws DatasetError `missing_file`, and the errors of `readProfiles`
 */
export async function addProfiles(dataset: Dataset, added: readonly PolicyProfile[]): Promise<string> {
  const { folder, manifest } = dataset
  const earlier = await readProfiles(dataset)
  const profiles = [...earlier.filter((old) => !added.some((one) => isReplaced(old, one))), ...added]
  const path = join(folder, CARD_FILE)
  const card = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new DatasetError('missing_file', `${path} cannot be read (${cause.message}): make the data set again`, {
      cause,
    })
  })
  const section = profilesSection(profiles)
  const file = fileShape.parse({ schema: 1, profiles } satisfies z.input<typeof fileShape>)
  await writeFileAtomic(join(folder, PROFILES_FILE), `${JSON.stringify(file, null, 2)}\n`)
  await writeFileAtomic(path, withSection(card, section))
  const changed = await Promise.all([CARD_FILE, PROFILES_FILE].map((name) => describeFile(folder, name)))
  const kept = manifest.files.filter(({ path: name }) => name !== PROFILES_FILE)
  const files = kept.map((entry) => changed.find(({ path: name }) => name === entry.path) ?? entry)
  const all = [...files, changed.find(({ path: name }) => name === PROFILES_FILE)!]
  await writeFileAtomic(join(folder, MANIFEST_FILE), serializeManifest({ ...manifest, files: all }))
  return section
}

const isReplaced = (old: PolicyProfile, added: PolicyProfile): boolean =>
  old.label === added.label || JSON.stringify(old.policy) === JSON.stringify(added.policy)

/** Checks the file of profiles, and that the card has their table. @throws DatasetError `bad_manifest`, and the errors of `readProfiles` */
export async function checkProfiles(dataset: Dataset): Promise<void> {
  const profiles = await readProfiles(dataset)
  if (profiles.length === 0) return
  const path = join(dataset.folder, CARD_FILE)
  await checkFile(dataset.folder, dataset.manifest, CARD_FILE)
  if (!(await readFile(path, 'utf8')).includes(`\n${profilesSection(profiles)}\n`))
    throw new DatasetError(
      'bad_manifest',
      `${path}: its section "${HEADING}" does not show ${PROFILES_FILE}. Profile the data set again with prove-lab profile.`,
    )
}

/** Returns the section of the card. */
export function profilesSection(profiles: readonly PolicyProfile[]): string {
  return [
    HEADING,
    'What policies can do on these tasks, in per cent of the tasks (± standard error over tasks, omitted where all tasks are equal). *Greedy*: solved exactly at temperature 0. *pass@k*: at least one of k rollouts at temperature T solves the task; *pass^k*: all k do. *Zero-variance groups*: all k rollouts have the same reward (`paper`), so GRPO learns nothing from them. Reward, calls and failures are those of the greedy rollouts, if there are any. `prove-lab profile` adds a policy.',
    overallTable(profiles),
    'Solved exactly by environment: greedy / pass@1 / pass@k.',
    environmentTable(profiles),
    `\`${PROFILES_FILE}\` has all measures and settings. Policies:`,
    profiles.map(policyLine).join('\n'),
  ].join('\n\n')
}

type Measured = PolicyProfile['overall']

function overallTable(profiles: readonly PolicyProfile[]): string {
  return markdownTable(
    [
      ...['policy', 'tasks', 'T', 'k', 'greedy', 'pass@1', 'pass@k', 'pass^k', 'zero-variance groups'],
      ...['reward `paper`', 'calls (reference)', 'most frequent failure'],
    ],
    profiles.map(({ label, overall, samples, temperature }) => {
      const { n, greedy, sampled } = overall
      const main = greedy ?? sampled ?? {}
      return [
        ...[label, number(n), samples > 0 ? `${temperature}` : '-', samples > 0 ? `${samples}` : '-'],
        ...[share(greedy?.solved), share(sampled?.solved)],
        ...[share(sampled?.[`pass@${samples}`]), share(sampled?.[`pass^${samples}`])],
        ...[share(sampled?.['zero_variance.paper']), withError(main['reward.paper'], 1, 3)],
        `${withError(main.calls, 1, 2)} (${overall.calls_reference.toFixed(2)})`,
        mostFrequentFailure(main),
      ]
    }),
  )
}

function environmentTable(profiles: readonly PolicyProfile[]): string {
  const names = [...new Set(profiles.flatMap(({ environments }) => Object.keys(environments)))].sort()
  const whole = (one: Measured['greedy'], measure: string): string =>
    one?.[measure] ? (100 * one[measure].mean).toFixed(0) : '-'
  return markdownTable(
    ['environment', ...profiles.map(({ label }) => label)],
    names.map((name) => [
      name,
      ...profiles.map(({ environments, samples }) => {
        const own = environments[name]
        if (!own) return '-'
        return [
          whole(own.greedy, 'solved'),
          whole(own.sampled, 'solved'),
          whole(own.sampled, samples > 1 ? `pass@${samples}` : 'solved'),
        ].join(' / ')
      }),
    ]),
  )
}

const share = (value: z.output<typeof mean> | undefined): string => withError(value, 100, 1)

/** Errors below this come from the last bits of equal values. */
const NO_SPREAD = 1e-9

function withError(value: z.output<typeof mean> | undefined, scale: number, digits: number): string {
  if (!value) return '-'
  const error = value.stderr === null || value.stderr < NO_SPREAD ? '' : ` ± ${(scale * value.stderr).toFixed(digits)}`
  return `${(scale * value.mean).toFixed(digits)}${error}`
}

function mostFrequentFailure(found: z.output<typeof measures>): string {
  const [worst] = Object.entries(found)
    .filter(([name, { mean: value }]) => name.startsWith('failure.') && value > 0)
    .sort(([, a], [, b]) => b.mean - a.mean)
  if (!worst) return '-'
  return `${worst[0].slice('failure.'.length).replace('_', ' ')} (${(100 * worst[1].mean).toFixed(1)})`
}

function policyLine({ label, policy, ...profile }: PolicyProfile): string {
  const { kind, sha256: own, base_sha256: base, model } = policy
  const facts = {
    base: `model file with SHA-256 \`${own}\``,
    merged: `model file with SHA-256 \`${own}\``,
    adapter: `adapter with SHA-256 \`${own}\` over the model file \`${base}\``,
    endpoint: `model \`${model}\` of a server, with tools passed natively`,
  }
  const format = kind === 'endpoint' ? '' : `, tool-call format \`${profile.tool_call_format}\``
  return `- ${label}: ${facts[kind]}${format}, split \`${profile.split}\`, seed ${profile.seed}, measured by PROVE swarm ${profile.program}`
}

import { join } from 'node:path'
import { updateDistance } from '../../coordinator/jobs/tensor-distance.js'
import { adapterDistance } from '../../rollout/engine/index.js'
import type { EpisodeRuntime } from '../../rollout/episode/index.js'
import { batchOf, checkBatch, checkDraws, type ReplayedGroup, replayGroups } from './check-groups.js'
import { checkLeases, checkMembership, checkParent, checkSettings, type DerivedVersions } from './check-record.js'
import { type MadeStep, makeStep, type TrainerParts } from './make-step.js'
import { openVersion, type PublishedVersion, readTrainingBatch } from './published-version.js'
import {
  DIFFERENCE_LIMIT,
  DoesNotFollow,
  type PassedCheck,
  type Rederivation,
  type RederivationCheck,
  ROUNDED_LIMIT,
} from './verdict.js'

export interface RederiveParts extends TrainerParts {
  readonly run: string
  /** Returns the folder of a published version, with all its files. @throws NodeError `no_such_version` */
  readonly pull: (version: number, signal: AbortSignal) => Promise<string>
  /** Returns environments, tokenizer and template for the rules of a run configuration. */
  readonly runtimeOf: (rules: { readonly toolCallFormat: string; readonly reward: string }) => EpisodeRuntime
  /** Makes the step. Default: the real trainer. */
  readonly make?: typeof makeStep
  /** Called after each check. */
  readonly onCheck?: (check: PassedCheck) => void
}

/**
 * Makes a published version again from its evidence, and reports the first thing that does not follow.
 * @param number  the version, 1 or more: version 0 has no batch
 * @throws NodeError, TransportError if a file cannot be fetched; TrainerError if the trainer cannot run
 */
export async function rederiveVersion(
  number: number,
  parts: RederiveParts,
  signal: AbortSignal,
): Promise<Rederivation> {
  const passed: PassedCheck[] = []
  const pass = (check: PassedCheck): void => {
    passed.push(check)
    parts.onCheck?.(check)
  }
  let manifestId = ''
  let difference: number | null = null
  try {
    const version = await openVersion(await parts.pull(number, signal), parts.run, signal)
    manifestId = version.sealed.manifestId
    const versions = await derivedVersions(version, parts, signal)
    pass({ check: 'publication', detail: `${version.files.size} files of version ${number}, signed by the run` })
    pass(checkParent(versions))
    const batch = await readTrainingBatch(version)
    const { record } = batch
    await addSampledVersions(versions, record.groups, parts, signal)
    pass(checkSettings(record, versions))
    pass(checkMembership(record, versions))
    const [leases, leased] = checkLeases(batch, versions)
    pass(leases)
    const [rewards, replayed] = await replayGroups(leased, record, parts.runtimeOf, signal)
    pass(rewards)
    const { base } = version.sealed.manifest.policy
    pass(checkBatch(replayed, record, base.ggufSha256, versions.derivation))
    const canBeDrawn = ({ group, calibration }: ReplayedGroup): boolean =>
      calibration !== null && versions.earlier.has(group.version)
    if (record.backTo !== null) {
      pass(await checkRestored(version, record.backTo, parts, signal))
      return { version: number, manifestId, follows: true, passed, fault: null, difference: 0 }
    }
    const again = batchOf(replayed, record, base.ggufSha256, canBeDrawn)
    const leftOut = versions.derivation.batch.leftOut.map(({ group }) => group)
    const reader = readerOf(replayed, parts)
    const input = { batch: again, leftOut, versions, groups: replayed, reader }
    const made = await (parts.make ?? makeStep)(input, parts, signal)
    pass(checkDraws(replayed, (leaseId) => made.scores.get(leaseId) ?? null))
    if (made.step.skipped === 'drift' && versions.derivation.skipped === 'drift') {
      pass(await checkRestored(version, version.provenance.step, parts, signal))
      return { version: number, manifestId, follows: true, passed, fault: null, difference: 0 }
    }
    difference = await compare(versions, made)
    pass({ check: 'update', detail: `differs by ${difference.toExponential(1)} of its norm` })
    return { version: number, manifestId, follows: true, passed, fault: null, difference }
  } catch (why) {
    if (!(why instanceof DoesNotFollow)) throw why
    const fault = { check: why.check, detail: why.message }
    return { version: number, manifestId, follows: false, passed, fault, difference: why.difference ?? difference }
  }
}

const readerOf = ([first]: readonly ReplayedGroup[], { runtimeOf }: RederiveParts): EpisodeRuntime =>
  runtimeOf(first?.configuration ?? { toolCallFormat: 'hermes', reward: 'paper' })

async function derivedVersions(
  version: PublishedVersion,
  { run, pull }: RederiveParts,
  signal: AbortSignal,
): Promise<DerivedVersions & { readonly earlier: Map<number, PublishedVersion> }> {
  const { version: number } = version.sealed.manifest
  const { derivation } = version.provenance
  const missing = ['training-batch.bin', 'optimizer.safetensors', 'rng.json', 'adapter_model.safetensors'].find(
    (name) => !version.files.has(name),
  )
  if (!derivation || missing)
    throw new DoesNotFollow('publication', `version ${number} was published without ${missing ?? 'a derivation'}`)
  const parent = await openVersion(await pull(number - 1, signal), run, signal)
  return { run, version, derivation, parent, earlier: new Map([[number - 1, parent]]) }
}

/** Fetches the versions under which the groups were sampled. */
async function addSampledVersions(
  { earlier, parent }: { readonly earlier: Map<number, PublishedVersion>; readonly parent: PublishedVersion },
  groups: readonly { readonly version: number }[],
  { run, pull }: RederiveParts,
  signal: AbortSignal,
): Promise<void> {
  const needed = new Set([...groups.map(({ version }) => version), ...(parent.provenance.warmStart ? [0] : [])])
  for (const number of needed)
    if (!earlier.has(number)) earlier.set(number, await openVersion(await pull(number, signal), run, signal))
}

/** Checks that a version has the adapter and the optimizer state of an earlier one. @throws DoesNotFollow */
async function checkRestored(
  version: PublishedVersion,
  earlier: number,
  { run, pull }: RederiveParts,
  signal: AbortSignal,
): Promise<PassedCheck> {
  const restored = await openVersion(await pull(earlier, signal), run, signal)
  for (const name of ['adapter_model.safetensors', 'adapter.gguf', 'optimizer.safetensors'])
    if (version.sha256Of(name) !== restored.sha256Of(name))
      throw new DoesNotFollow('update', `${name} is not that of version ${earlier}, which the step restores`)
  return { check: 'update', detail: `restores version ${earlier}` }
}

/** Compares the published files with those of the step that was made again. @throws DoesNotFollow */
async function compare({ version, parent, derivation }: DerivedVersions, { step }: MadeStep): Promise<number> {
  if ((step.skipped ?? null) !== derivation.skipped)
    throw new DoesNotFollow(
      'update',
      `the trainer ${saying(step.skipped)}, published is that it ${saying(derivation.skipped)}`,
    )
  const at = (name: string, inStep: string) => ({
    parent: join(parent.folder, name),
    published: join(version.folder, name),
    made: join(step.folder, inStep),
  })
  const weights = at('adapter_model.safetensors', 'adapter/adapter_model.safetensors')
  const difference = await distanceOf('adapter', () => updateDistance(weights), DIFFERENCE_LIMIT)
  const state = at('optimizer.safetensors', 'optimizer.safetensors')
  await distanceOf('optimizer state', () => updateDistance(state), DIFFERENCE_LIMIT)
  const gguf = at('adapter.gguf', 'adapter.gguf')
  await distanceOf(
    'adapter for volunteers',
    () => adapterDistance(gguf.parent, gguf.published, gguf.made),
    ROUNDED_LIMIT,
  )
  return difference
}

const saying = (skipped: string | null): string =>
  skipped === null ? 'updated the policy' : `skipped the update (${skipped})`

async function distanceOf(
  what: string,
  measure: () => Promise<{ readonly update: number; readonly difference: number } | null>,
  limit: number,
): Promise<number> {
  let found: Awaited<ReturnType<typeof measure>>
  try {
    found = await measure()
  } catch (cause) {
    throw new DoesNotFollow('update', `the published ${what} is unreadable: ${(cause as Error).message}`)
  }
  if (found === null) throw new DoesNotFollow('update', `the published ${what} has other tensors`)
  const share = found.difference === 0 ? 0 : found.difference / found.update
  // Written so that NaN fails it.
  if (share <= limit) return share
  const detail = `the published ${what} differs by ${share.toPrecision(3)} of the update's norm, and at most ${limit} is rounding`
  throw new DoesNotFollow('update' satisfies RederivationCheck, detail, share)
}

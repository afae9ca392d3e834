import {
  decodeTaskSet,
  merkleRoot,
  parseVerdictLeaf,
  policyIdOf,
  rootByPath,
  runConfigurationId,
  sha256,
  type TrainingBatch,
  type TrainingGroup,
  type TrainingRecord,
} from '../../proto/index.js'
import { taskIndex } from '../../rollout/episode/index.js'
import { leaseSeed, roundSecretHash } from '../../rollout/verification/index.js'
import type { Derivation, PublishedVersion } from './published-version.js'
import { type ReadConfiguration, readConfiguration } from './run-rules.js'
import { DoesNotFollow, type PassedCheck } from './verdict.js'

/** A version that is made again, and the versions that its groups were sampled under. */
export interface DerivedVersions {
  readonly run: string
  readonly version: PublishedVersion
  readonly derivation: Derivation
  readonly parent: PublishedVersion
  /** Versions whose files are here, by number; at least the parent. */
  readonly earlier: ReadonlyMap<number, PublishedVersion>
}

/** Names of the state of a step in the published folder, by their names in the trainer's step. */
const STATE_FILES: Readonly<Record<string, string>> = {
  'adapter/adapter_model.safetensors': 'adapter_model.safetensors',
  'optimizer.safetensors': 'optimizer.safetensors',
  'rng.json': 'rng.json',
}

/** Checks that the step continues from the published version before it. @throws DoesNotFollow */
export function checkParent({ version, derivation, parent }: DerivedVersions): PassedCheck {
  const number = version.sealed.manifest.version
  const before = parent.sealed.manifest.version
  if (before !== number - 1 || derivation.parent.step !== before)
    throw new DoesNotFollow('parent', `version ${number} continues from step ${derivation.parent.step}`)
  for (const [name, published] of Object.entries(STATE_FILES)) {
    const [named, here] = [derivation.parent.files[name], parent.sha256Of(published)]
    if (named === undefined || here === undefined)
      throw new DoesNotFollow('parent', `version ${before} was published without ${published}`)
    if (named !== here)
      throw new DoesNotFollow('parent', `it continues from another ${published} than that of version ${before}`)
  }
  return { check: 'parent', detail: `adapter, optimizer and random state of version ${before}` }
}

/** Settings that do not change an update, or that the machine determines. */
const FREE_SETTINGS = new Set(['baseModel', 'keepSteps', 'pollMs', 'threads', 'device', 'memoryGiB', 'sharding'])

/** Checks that the trainer used the settings of the run configuration, whose id is signed. @throws DoesNotFollow */
export function checkSettings(record: TrainingRecord, { derivation, version, parent }: DerivedVersions): PassedCheck {
  for (const [id, configuration] of Object.entries(record.configurations))
    if (runConfigurationId(configuration) !== id)
      throw new DoesNotFollow('settings', `a run configuration does not have its id ${id}`)
  const signed = new Set([version, parent].map(({ sealed }) => sealed.manifest.configurationId))
  const inForce = record.trainingConfigurations.filter((id) => signed.has(id))
  if (inForce.length === 0)
    throw new DoesNotFollow('settings', 'no manifest signs the run configuration under which the step was made')
  const { recipe } = derivation
  if (!recipe) throw new DoesNotFollow('settings', 'the provenance does not name the settings of the trainer')
  const faults = inForce.map((id) => {
    const wanted = record.configurations[id]?.training
    return wanted === undefined ? `the run configuration ${id} is missing` : firstDifference(wanted, recipe.settings)
  })
  if (faults.every((found) => found !== null))
    throw new DoesNotFollow('settings', `the trainer did not use the settings of the run: ${faults[0]}`)
  return { check: 'settings', detail: `those of the run configuration, trainer ${recipe.program.trainer}` }
}

/** Returns the first setting that differs; null: none. Settings that the configuration does not name have the trainer's defaults. */
function firstDifference(wanted: unknown, used: unknown, path = ''): string | null {
  if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)) {
    for (const [name, value] of Object.entries(wanted)) {
      if (path === '' && FREE_SETTINGS.has(name)) continue
      const inside = (used as Record<string, unknown> | null | undefined)?.[name]
      const found = firstDifference(value, inside, path === '' ? name : `${path}.${name}`)
      if (found !== null) return found
    }
    return null
  }
  const sorted = (value: unknown): unknown => (Array.isArray(value) ? [...value].sort() : value)
  const [a, b] = [wanted, used].map((value) => JSON.stringify(sorted(value)))
  return a === b ? null : `${path} is ${b}, agreed was ${a}`
}

/** Checks that the verdicts on the groups are in the trees whose roots are signed. @throws DoesNotFollow */
export function checkMembership(record: TrainingRecord, versions: DerivedVersions): PassedCheck {
  const { run, version, derivation, parent } = versions
  const number = version.sealed.manifest.version
  const fail = (detail: string): DoesNotFollow => new DoesNotFollow('membership', detail)
  if (record.run !== run || record.step !== number || record.batchId !== derivation.batchId)
    throw fail(`the record is of step ${record.step}, batch ${record.batchId}`)
  const roots = new Map(derivation.verdicts.map(({ step, count, root }) => [`${step} ${count}`, root]))
  if (record.verdicts.length > 0 && roots.get(`${number} ${record.verdicts.length}`) !== merkleRoot(record.verdicts))
    throw fail(`the listed verdicts for step ${number} do not have the root in the provenance`)
  // Signed before the step was made: the beginning of the list cannot be changed afterwards.
  const { head } = parent.sealed.manifest
  if (head.step === number && merkleRoot(record.verdicts.slice(0, head.verdicts)) !== head.verdictsRoot)
    throw fail(`the first ${head.verdicts} verdicts are not those that the manifest of version ${number - 1} signs`)
  for (const { step, count, root } of parent.provenance.derivation?.verdicts ?? []) {
    const later = derivation.verdicts.find((one) => one.step === step)
    if (later && step < number && (later.count !== count || later.root !== root))
      throw fail(`the verdicts for step ${step} have changed since version ${number - 1}`)
  }
  const seen = new Set<string>()
  for (const group of record.groups) {
    if (seen.has(group.leaseId)) throw fail(`the group of lease ${group.leaseId} is in the batch twice`)
    seen.add(group.leaseId)
    checkPlace(group, roots, fail)
  }
  const leftOut = new Map(derivation.batch.leftOut.map(({ group, reason }) => [group, reason]))
  const differs = record.groups.find(({ leaseId, leftOut: why }) => (leftOut.get(leaseId) ?? null) !== why)
  if (differs || [...leftOut.keys()].some((leaseId) => !seen.has(leaseId)))
    throw fail('record and provenance do not name the same groups as left out')
  return { check: 'membership', detail: `${record.groups.length} groups among ${record.verdicts.length} verdicts` }
}

function checkPlace(
  { leaseId, node, bodySha256, leaf, place }: TrainingGroup,
  roots: ReadonlyMap<string, string>,
  fail: (detail: string) => DoesNotFollow,
): void {
  const verdict = parseVerdictLeaf(leaf)
  if (!verdict?.accepted || verdict.leaseId !== leaseId || verdict.node !== node || verdict.bodySha256 !== bodySha256)
    throw fail(`the verdict on lease ${leaseId} does not accept this group`)
  const root = rootByPath(leaf, place.index, place.count, place.path)
  if (root === null || root !== place.root || roots.get(`${place.step} ${place.count}`) !== root)
    throw fail(`the verdict on lease ${leaseId} is not in the tree of step ${place.step}`)
}

/** A group with what its lease determines. */
export interface LeasedGroup {
  readonly group: TrainingGroup
  readonly body: Uint8Array
  readonly seed: Buffer
  readonly policyId: string
  readonly configuration: ReadConfiguration
  readonly rewards: readonly number[]
}

/** Checks that leases, seeds and tasks follow from the secrets of the rounds. @throws DoesNotFollow */
export function checkLeases(
  { record, bodies }: TrainingBatch,
  { version, earlier }: DerivedVersions,
): readonly [PassedCheck, readonly LeasedGroup[]] {
  const fail = (detail: string): DoesNotFollow => new DoesNotFollow('leases', detail)
  const signed = new Map(version.sealed.manifest.closedRounds.map(({ round, secret }) => [round, secret]))
  const rounds = new Map(record.rounds.map((round) => [round.round, round]))
  for (const { round, secret, policyId, version: number, configurationId } of record.rounds) {
    if (signed.has(round) && signed.get(round) !== secret)
      throw fail(`round ${round} has another secret in the manifest`)
    const first = earlier.get(number)?.sealed.manifest
    // The hash was signed when the round began, so that nobody could choose the secret afterwards.
    if (
      first?.round === round &&
      (roundSecretHash(Buffer.from(secret, 'hex')) !== first.roundSecretHash ||
        first.configurationId !== configurationId)
    )
      throw fail(`the secret of round ${round} is not the one whose hash its manifest signs`)
    const policy = first?.policy
    const { toolCallFormat, reward, cacheType } = configurationOf(record, configurationId, fail)
    if (policy && policyIdOf({ ...policy, toolCallFormat, reward, cacheType }) !== policyId)
      throw fail(`round ${round} is not a round of version ${number}`)
  }
  const leased = record.groups.map((group, i): LeasedGroup => {
    const round = rounds.get(group.round)
    if (!round || round.version !== group.version) throw fail(`lease ${group.leaseId} names an unknown round`)
    const configuration = configurationOf(record, round.configurationId, fail)
    const seed = leaseSeed(Buffer.from(round.secret, 'hex'), round.policyId, group.node, group.index)
    const drawn = taskIndex(seed, configuration.dataset.tasks, decodeTaskSet(round.skippedTasks))
    if (drawn !== group.taskIndex)
      throw fail(`the seed of lease ${group.leaseId} gives task ${drawn}, not task ${group.taskIndex}`)
    if (record.tasks[group.taskIndex] === undefined) throw fail(`task ${group.taskIndex} is missing`)
    const body = bodies[i]!
    if (sha256(body) !== group.bodySha256) throw fail(`the body of lease ${group.leaseId} has another hash`)
    const { rewards } = parseVerdictLeaf(group.leaf)!
    return { group, body, seed, policyId: round.policyId, configuration, rewards }
  })
  return [{ check: 'leases', detail: `seeds and tasks of ${record.rounds.length} rounds` }, leased]
}

function configurationOf(
  { configurations }: TrainingRecord,
  id: string,
  fail: (detail: string) => DoesNotFollow,
): ReadConfiguration {
  const configuration = configurations[id]
  const read = configuration && readConfiguration(configuration)
  if (!read) throw fail(`the run configuration ${id} is missing or unreadable`)
  return read
}

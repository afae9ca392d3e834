import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import { packageVersion } from '../../common/cli/index.js'
import {
  type BlobDescription,
  type BlobRole,
  EVIDENCE_ROLES,
  LIMITS,
  type PolicyManifest,
  PUBLISHED_FILES,
  type Sha256,
} from '../../proto/index.js'
import { type HeldOutSet, heldOutText } from '../../rollout/episode/index.js'
import { type BlobStore, storeDifference } from '../../swarm/index.js'
import type { TrainerStep } from '../jobs/step-folder.js'
import type { RunState } from '../ledger/run-state.js'
import type { TaskSet } from '../settings/task-set.js'
import { canariesOf } from './canary.js'
import { modelSignature } from './model-signature.js'
import type { PolicyFrame } from './policy-frame.js'
import { provenanceOf } from './provenance.js'
import type { TrainingEvidence } from './training-evidence.js'

/** The parts of a manifest that differ between the rounds of a version. */
export type RoundPart = Pick<
  PolicyManifest,
  | 'round'
  | 'taskSpec'
  | 'roundSecretHash'
  | 'closedRounds'
  | 'createdAtMs'
  | 'expiresAtMs'
  | 'limits'
  | 'canaryTolerance'
  | 'configurationId'
  | 'head'
  | 'shards'
>
/** The parts of a manifest that all rounds of a version share. */
export type VersionPart = Omit<PolicyManifest, keyof RoundPart | 'policyId'>

export interface VersionParts {
  readonly runId: string
  readonly state: RunState
  readonly frame: PolicyFrame
  readonly taskSet: TaskSet
  readonly blobs: BlobStore
  readonly key: PrivateKey
  readonly nowMs: number
  /** How versions are scored; null: they are not. */
  readonly heldOut: HeldOutSet | null
  /** Whether the run publishes what a stranger needs to make a step again. */
  readonly publishesEvidence: boolean
  /** The batch of the step for that purpose; null: version 0, or a part of it is lost. */
  readonly evidence: TrainingEvidence | null
  /** Hash of the adapter in force, which nodes have; null: none. */
  readonly adapterBefore: Sha256 | null
  readonly signal: AbortSignal
}

/** Stores the files of a trainer's step, and the coordinator's own files, as blobs of `version`. */
export async function describeVersion(version: number, step: TrainerStep, parts: VersionParts): Promise<VersionPart> {
  const { blobs, frame, evidence, publishesEvidence, heldOut } = parts
  const scoring = heldOut && new TextEncoder().encode(heldOutText(heldOut))
  const describeBlob = async (stored: Promise<string>, role: BlobRole): Promise<BlobDescription> =>
    blobs.describe(await stored, role)
  const described = await Promise.all([
    ...PUBLISHED_FILES.flatMap(({ role, inStep, optional }) => {
      if (inStep === null || (optional && !Object.hasOwn(step.files, inStep))) return []
      if (EVIDENCE_ROLES.has(role) && !publishesEvidence) return []
      return [describeBlob(blobs.putFile(join(step.folder, inStep)), role)]
    }),
    // Scores of a set that is too large to publish cannot be played again.
    ...(scoring && scoring.length <= LIMITS.blobMetadataBytes.value
      ? [describeBlob(blobs.put(scoring), 'held-out')]
      : []),
    ...(evidence ? [describeBlob(blobs.put(evidence.batch), 'training-batch')] : []),
    describeBlob(blobs.put(provenanceFile(version, step, parts)), 'provenance'),
  ])
  const signature = await describeBlob(blobs.put(signatureFile(version, described, parts)), 'model-signature')
  const { sha256, sizeBytes } = described[0]!
  const { adapterBefore, signal } = parts
  const difference =
    adapterBefore === null ? null : await storeDifference(blobs, adapterBefore, { sha256, sizeBytes }, signal)
  const { rank, alpha, targetModules } = step.lora
  return {
    version,
    policy: { ...frame, adapter: { sha256, sizeBytes, rank, alpha, targetModules } },
    blobs: [...described, signature],
    difference,
    canary: canariesOf(step.canaries),
  }
}

function provenanceFile(version: number, step: TrainerStep, parts: VersionParts): Uint8Array {
  const { runId, state, frame, taskSet, evidence } = parts
  const derivation = evidence?.derivation ?? null
  const provenance = provenanceOf(version, step, {
    ...{ runId, state, base: frame.base, taskSet, derivation, program: packageVersion() },
  })
  return new TextEncoder().encode(`${JSON.stringify(provenance, null, 2)}\n`)
}

function signatureFile(version: number, described: readonly BlobDescription[], parts: VersionParts): Uint8Array {
  const { key, frame, nowMs } = parts
  const nameOf = (role: BlobRole): string => PUBLISHED_FILES.find((file) => file.role === role)!.name
  // The manifest signs the evidence: a folder of the model alone has to pass the verifiers of OpenSSF Model Signing.
  const model = described.filter(({ role }) => !EVIDENCE_ROLES.has(role))
  const files = model.map(({ role, sha256 }) => ({ name: nameOf(role), sha256 }))
  return modelSignature(key, { name: `${frame.base.name}-v${version}`, version, atMs: nowMs, files })
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { LIMITS, type SealedManifest, SwarmRefusal, type TrainingBatch, trainingBatch } from '../../proto/index.js'
import { checkPulledFolder } from '../adapters/pulled-folder.js'
import { DoesNotFollow } from './verdict.js'

const count = z.int().min(0)
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const facts = z.record(z.string().max(64), z.unknown())
const root = z.object({ step: count, count, root: hash })

const derivationShape = z.object({
  batchId: z.string(),
  parent: z.object({ step: count, files: z.record(z.string(), hash) }),
  batch: z.object({
    manifestSha256: hash,
    tokensSha256: hash,
    leftOut: z.array(z.object({ group: z.string(), reason: z.string() })),
  }),
  ranks: z.int().min(1),
  skipped: z.string().nullable(),
  recipe: z.object({ settings: facts, program: z.record(z.string(), z.string()) }).nullable(),
  verdicts: z.array(root),
})
export type Derivation = z.output<typeof derivationShape>

const heldOutShape = z.object({
  version: count,
  adapterSha256: hash,
  reward: z.object({ mean: z.number(), stderr: z.number() }),
  solved: z.object({ mean: z.number(), stderr: z.number() }),
})
export type HeldOutScore = z.output<typeof heldOutShape>

const provenanceShape = z.object({
  run: z.string(),
  version: count,
  /** Step whose update made the adapter. */
  step: count,
  base: z.object({ name: z.string(), ggufSha256: hash }),
  warmStart: z.unknown(),
  derivation: derivationShape.nullable(),
  heldOut: z.array(heldOutShape).default([]),
})
export type StepProvenance = z.output<typeof provenanceShape>

/** A published version on this disk, whose signature and hashes are valid. */
export interface PublishedVersion {
  readonly folder: string
  readonly sealed: SealedManifest
  readonly provenance: StepProvenance
  /** Names of the files that are here. */
  readonly files: ReadonlySet<string>
  /** Hash of a file that is here. */
  sha256Of(name: string): string | undefined
}

/**
 * Opens a pulled folder for a re-derivation.
 * @param run  peer id of the run that must have signed it
 * @throws DoesNotFollow `publication` if a file is changed, or the provenance is of another version; NodeError `bad_folder`
 */
export async function openVersion(folder: string, run: string, signal: AbortSignal): Promise<PublishedVersion> {
  const { sealed, files } = await checkPulledFolder(folder, run, signal)
  const changed = files.find(({ outcome }) => outcome === 'changed')
  if (changed) throw new DoesNotFollow('publication', `${changed.name} is not the signed file: ${changed.detail}`)
  const { version, blobs } = sealed.manifest
  const here = new Map(files.filter(({ outcome }) => outcome === 'ok').map(({ name, detail }) => [name, detail]))
  if (!here.has('provenance.json')) throw new DoesNotFollow('publication', `version ${version} has no provenance`)
  const text = await readFile(join(folder, 'provenance.json'), 'utf8')
  const parsed = provenanceShape.safeParse(parsedJson(text))
  if (!parsed.success)
    throw new DoesNotFollow('publication', `the provenance of version ${version} is unreadable: ${fault(parsed.error)}`)
  const provenance = parsed.data
  if (provenance.run !== run || provenance.version !== version)
    throw new DoesNotFollow('publication', `the provenance is of version ${provenance.version} of ${provenance.run}`)
  if (provenance.base.ggufSha256 !== sealed.manifest.policy.base.ggufSha256)
    throw new DoesNotFollow('publication', 'the provenance names another base model than the manifest')
  if (blobs.length > LIMITS.blobsPerManifest.value) throw new DoesNotFollow('publication', 'too many files')
  return { folder, sealed, provenance, files: new Set(here.keys()), sha256Of: (name) => here.get(name) }
}

/** Reads the batch of a version. @throws DoesNotFollow `publication` */
export async function readTrainingBatch({ folder, sealed }: PublishedVersion): Promise<TrainingBatch> {
  try {
    return trainingBatch.parse(await readFile(join(folder, 'training-batch.bin')))
  } catch (why) {
    if (!(why instanceof SwarmRefusal)) throw why
    const { version } = sealed.manifest
    throw new DoesNotFollow('publication', `the batch of version ${version} is unreadable: ${why.detail}`)
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const fault = ({ issues }: z.ZodError): string =>
  issues[0] ? `${issues[0].path.join('.')}: ${issues[0].message}`.slice(0, 200) : 'invalid'

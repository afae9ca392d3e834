import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
  EVIDENCE_ROLES,
  LIMITS,
  openManifest,
  PUBLISHED_FILES,
  type SealedManifest,
  SwarmRefusal,
  signerOf,
} from '../../proto/index.js'
import { hashFile } from '../../rollout/engine/index.js'
import { NodeError } from '../report/errors.js'
import { readBounded, unlessMissing } from './read-bounded.js'

/** File of the signed manifest, against which the other files are checked. */
export const MANIFEST_FILE = 'manifest.sealed'

/** Result of the check of a file. */
export interface CheckedFile {
  readonly name: string
  /** `missing`: the file was not available, or was removed. */
  readonly outcome: 'ok' | 'missing' | 'changed'
  /** The difference, or the correct hash. */
  readonly detail: string
}

/** Result of the check of a folder. */
export interface CheckedFolder {
  /** Peer id of the run's key, which signed the manifest. */
  readonly run: string
  readonly sealed: SealedManifest
  readonly files: readonly CheckedFile[]
  /** Other entries of the folder, which are not signed. */
  readonly unsigned: readonly string[]
}

/**
 * Opens the manifest of a pulled folder, and checks its signature.
 * @param run  peer id of the run that must have signed; null: any run
 * @throws NodeError `bad_folder`
 */
export async function openPulledFolder(folder: string, run: string | null): Promise<SealedManifest & { run: string }> {
  const path = join(folder, MANIFEST_FILE)
  const bytes = await readBounded(path, LIMITS.manifestBytes.value)
  const signer = await signerOf(bytes, 'manifestBytes', 'policy-manifest')
  if (signer === null)
    throw badFolder(`${path}: the signature is invalid: the file is changed, cut short, or no manifest. Pull it again`)
  if (run !== null && signer !== run) throw badFolder(`${path} is signed by ${signer}, not by the run ${run}`)
  try {
    return { ...(await openManifest(bytes, signer)), run: signer }
  } catch (cause) {
    if (!(cause instanceof SwarmRefusal)) throw cause
    throw badFolder(`${path}: ${cause.message}`, cause)
  }
}

/**
 * Checks the signature and all hashes of a pulled folder, offline. Missing evidence is not listed, because a pull of the model leaves
 * it out.
 * @throws NodeError `bad_folder` without a valid manifest
 */
export async function checkPulledFolder(
  folder: string,
  run: string | null,
  signal: AbortSignal,
): Promise<CheckedFolder> {
  const { run: signer, ...sealed } = await openPulledFolder(folder, run)
  const files: CheckedFile[] = []
  for (const { role, sha256, sizeBytes } of sealed.manifest.blobs) {
    const name = PUBLISHED_FILES.find((file) => file.role === role)?.name
    if (name === undefined) continue
    const checked = await checkFile(folder, { name, sha256, sizeBytes }, signal)
    if (checked.outcome !== 'missing' || !EVIDENCE_ROLES.has(role)) files.push(checked)
  }
  const signed = new Set([MANIFEST_FILE, ...files.map(({ name }) => name.split('/')[0]!)])
  const unsigned = (await readdir(folder)).filter((name) => !signed.has(name)).sort()
  return { run: signer, sealed, files, unsigned }
}

async function checkFile(
  folder: string,
  wanted: { readonly name: string; readonly sha256: string; readonly sizeBytes: number },
  signal: AbortSignal,
): Promise<CheckedFile> {
  const { name, sha256, sizeBytes } = wanted
  const path = join(folder, name)
  const found = await stat(path).catch(unlessMissing)
  if (found === null) return { name, outcome: 'missing', detail: 'does not exist' }
  if (!found.isFile()) return { name, outcome: 'changed', detail: 'not a file' }
  if (found.size !== sizeBytes) return { name, outcome: 'changed', detail: `${found.size} B instead of ${sizeBytes} B` }
  const hash = await hashFile(path, signal)
  if (hash !== sha256) return { name, outcome: 'changed', detail: `SHA-256 ${hash} instead of ${sha256}` }
  return { name, outcome: 'ok', detail: sha256 }
}

const place = z.int().min(0)
const facts = z.record(z.string(), z.unknown())

const estimate = z.object({ mean: z.number(), stderr: z.number() })

/** The fields of a provenance that a card needs. Coordinators of other versions may write others. */
const provenanceShape = z.object({
  schema: z.literal(2),
  step: place,
  tasks: z.object({ dataset: z.string(), examples: place }),
  volunteers: place,
  measured: z.record(z.string(), z.number()).nullable(),
  /** Left out by earlier versions. */
  heldOut: z
    .array(z.object({ version: place, tasks: place, reward: estimate, solved: estimate, calls: z.number() }))
    .default([]),
  steps: z.array(z.object({ step: place, groups: place, recipe: place.nullable() })),
  recipes: z.array(z.object({ settings: facts, program: facts })),
})
export type Provenance = z.output<typeof provenanceShape>

/** Reads a provenance. @returns null for an unknown format. @throws NodeError `bad_folder`; the system's error */
export async function parseProvenance(path: string): Promise<Provenance | null> {
  try {
    const parsed = provenanceShape.safeParse(
      JSON.parse(Buffer.from(await readBounded(path, LIMITS.blobMetadataBytes.value)).toString('utf8')),
    )
    return parsed.success ? parsed.data : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const badFolder = (detail: string, cause?: unknown): NodeError => new NodeError('bad_folder', detail, { cause })

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
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

/** The sealed manifest as it came from the run: what the files beside it are checked against. */
export const MANIFEST_FILE = 'manifest.sealed'

export interface CheckedFile {
  readonly name: string
  /** `missing`: it was not there to be pulled, or is gone. */
  readonly outcome: 'ok' | 'missing' | 'changed'
  /** What is wrong, or the hash that it shall have. */
  readonly detail: string
}

export interface CheckedFolder {
  /** Peer id of the run's key, which has signed. */
  readonly run: string
  readonly sealed: SealedManifest
  readonly files: readonly CheckedFile[]
  /** What lies in the folder beside the publication: nobody has signed it. */
  readonly unsigned: readonly string[]
}

/**
 * Opens the manifest of a pulled folder: its signature is good, and it is of the run, if that is named.
 * @param run  peer id of the run's key; null: whichever key has signed
 * @throws NodeError `bad_folder`
 */
export async function openPulledFolder(folder: string, run: string | null): Promise<SealedManifest & { run: string }> {
  const path = join(folder, MANIFEST_FILE)
  const bytes = await readBounded(path, LIMITS.manifestBytes.value)
  const signer = await signerOf(bytes, 'manifestBytes', 'policy-manifest')
  if (signer === null) throw badFolder(`${path}: the signature does not fit: it is changed, cut short, or no manifest`)
  if (run !== null && signer !== run) throw badFolder(`${path} is signed by ${signer}, and not by the run ${run}`)
  try {
    return { ...(await openManifest(bytes, signer)), run: signer }
  } catch (cause) {
    if (!(cause instanceof SwarmRefusal)) throw cause
    throw badFolder(`${path}: ${cause.message}`, cause)
  }
}

/**
 * Checks signature and every hash of a pulled folder, without the network.
 * @throws NodeError `bad_folder` when there is no good manifest to check it against
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
    if (name !== undefined) files.push(await checkFile(folder, { name, sha256, sizeBytes }, signal))
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
  if (found === null) return { name, outcome: 'missing', detail: 'not there' }
  if (!found.isFile()) return { name, outcome: 'changed', detail: 'not a file' }
  if (found.size !== sizeBytes)
    return { name, outcome: 'changed', detail: `${found.size} B, ${sizeBytes} B were published` }
  const hash = await hashFile(path, signal)
  if (hash !== sha256) return { name, outcome: 'changed', detail: `SHA-256 ${hash}, ${sha256} was published` }
  return { name, outcome: 'ok', detail: sha256 }
}

const place = z.int().min(0)
const facts = z.record(z.string(), z.unknown())

const estimate = z.object({ mean: z.number(), stderr: z.number() })

/** What a card tells of a provenance; a coordinator of another version may tell otherwise. */
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

/** @returns  null when it has another form. @throws what the file system says */
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

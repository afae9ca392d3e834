import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import type { MadeStep, StepInput } from '../../node/rederivation/make-step.js'
import {
  openManifest,
  type PolicyManifest,
  PUBLISHED_FILES,
  peerIdOfKey,
  policyIdOf,
  sealManifest,
} from '../../proto/index.js'
import { describeFile } from '../../swarm/index.js'
import { checkout } from './checkout.js'
import { soon } from './swarm-nodes.js'

/** Versions that an operator publishes who does not do what the run has agreed on. */

export interface ForgedVersion {
  /** A pulled folder of the honest version. */
  readonly from: string
  readonly to: string
  /** The key of the run. */
  readonly key: PrivateKey
  /** Files that replace those of the publication, by their published names. */
  readonly files?: Readonly<Record<string, string>>
  readonly provenance?: (honest: Provenance) => object
  readonly manifest?: (honest: PolicyManifest) => PolicyManifest
}

// The tests change arbitrary fields of a document that the program writes.
type Provenance = { derivation: Record<string, never> } & Record<string, never>

/** Writes a pulled folder with other content, which the run's key has signed as if it were honest. */
export async function forgeVersion({ from, to, key, files = {}, provenance, manifest }: ForgedVersion): Promise<void> {
  await cp(from, to, { recursive: true })
  for (const [name, source] of Object.entries(files)) {
    await mkdir(dirname(join(to, name)), { recursive: true })
    await copyFile(source, join(to, name))
  }
  if (provenance) {
    const path = join(to, 'provenance.json')
    await writeFile(path, JSON.stringify(provenance(JSON.parse(await readFile(path, 'utf8')))))
  }
  const run = peerIdOfKey(key)
  const sealed = join(to, 'manifest.sealed')
  const { manifest: honest } = await openManifest(await readFile(sealed), run)
  const blobs = await Promise.all(
    honest.blobs.map(({ role }) => {
      const { name } = PUBLISHED_FILES.find((file) => file.role === role)!
      return describeFile(join(to, name), role, soon())
    }),
  )
  const { sha256, sizeBytes } = blobs.find(({ role }) => role === 'adapter')!
  const policy = { ...honest.policy, adapter: { ...honest.policy.adapter!, sha256, sizeBytes } }
  const changed = { ...honest, blobs, policy, policyId: policyIdOf(policy) }
  const { envelope } = await sealManifest(key, run, manifest ? manifest(changed) : changed)
  await writeFile(sealed, envelope)
}

/** Returns the published files of a step that the trainer has made. */
export const filesOf = ({ step: { folder } }: MadeStep): Record<string, string> =>
  Object.fromEntries(
    PUBLISHED_FILES.flatMap(({ name, inStep }) => (inStep === null ? [] : [[name, join(folder, inStep)]])),
  )

/** The trainer with one of its sources changed. @returns  folder of the package */
export async function changedTrainer(folder: string, file: string, from: string, to: string): Promise<string> {
  await cp(join(checkout, 'coordinator', 'trainer', 'prove_trainer'), join(folder, 'prove_trainer'), {
    recursive: true,
  })
  const path = join(folder, 'prove_trainer', file)
  const source = await readFile(path, 'utf8')
  if (!source.includes(from)) throw new Error(`${path} does not contain ${from}`)
  await writeFile(path, source.replace(from, to))
  return folder
}

/** The trainer of an operator who makes the policy worse: it follows the advantages backwards. */
export const backwardTrainer = (folder: string): Promise<string> =>
  changedTrainer(folder, 'batch.py', 'advantage=float(advantages[i])', 'advantage=-float(advantages[i])')

/** Returns a step's input with other settings of the optimizer. */
export function withOptimizer(input: StepInput, change: object): StepInput {
  const { versions } = input
  const recipe = versions.derivation.recipe!
  const optimizer = { ...(recipe.settings.optimizer as object), ...change }
  const derivation = { ...versions.derivation, recipe: { ...recipe, settings: { ...recipe.settings, optimizer } } }
  return { ...input, versions: { ...versions, derivation } }
}

/** Returns a step's input that continues from another version, as if that were the parent. */
export function withParent(input: StepInput, other: StepInput['versions']['parent']): StepInput {
  const { versions } = input
  const { version } = versions.parent.sealed.manifest
  const manifest = { ...other.sealed.manifest, version }
  const parent = { ...other, sealed: { ...other.sealed, manifest } }
  return { ...input, versions: { ...versions, parent, earlier: new Map([...versions.earlier, [version, parent]]) } }
}

import type { BlobRole } from './manifest.js'

export interface PublishedFile {
  readonly role: BlobRole
  /** Name in the folder of a publication, as PEFT and llama.cpp expect it. */
  readonly name: string
  /** Path in the directory of a training step; null: the coordinator writes the file itself. */
  readonly inStep: string | null
  /** A publication may not have the file: for example, version 0 has no training batch. */
  readonly optional?: true
  /** The file serves only to make the step or its scores again: users of the model do not need it. */
  readonly evidence?: true
}

const EVIDENCE = { optional: true, evidence: true } as const

/**
 * The files of a publication, in the order of its manifest. Names are never sent; each side has this table. A `base` has no row, because it
 * is in the run's invitation and no publication changes it.
 */
export const PUBLISHED_FILES: readonly PublishedFile[] = [
  { role: 'adapter', name: 'adapter.gguf', inStep: 'adapter.gguf' },
  { role: 'peft-weights', name: 'adapter_model.safetensors', inStep: 'adapter/adapter_model.safetensors' },
  { role: 'peft-config', name: 'adapter_config.json', inStep: 'adapter/adapter_config.json' },
  { role: 'base-config', name: 'base/config.json', inStep: 'base/config.json', optional: true },
  { role: 'optimizer', name: 'optimizer.safetensors', inStep: 'optimizer.safetensors', ...EVIDENCE },
  { role: 'random-state', name: 'rng.json', inStep: 'rng.json', ...EVIDENCE },
  { role: 'training-batch', name: 'training-batch.bin', inStep: null, ...EVIDENCE },
  { role: 'held-out', name: 'held-out.json', inStep: null, ...EVIDENCE },
  { role: 'provenance', name: 'provenance.json', inStep: null },
  { role: 'model-signature', name: 'model.sig', inStep: null },
]

/** Roles of the files with which a step and its scores can be made again. */
export const EVIDENCE_ROLES: ReadonlySet<BlobRole> = new Set(
  PUBLISHED_FILES.flatMap(({ role, evidence }) => (evidence ? [role] : [])),
)

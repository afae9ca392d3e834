import type { BlobRole } from './manifest.js'

export interface PublishedFile {
  readonly role: BlobRole
  /** Name in the folder of a publication, as PEFT and llama.cpp expect it. */
  readonly name: string
  /** Path in the directory of a training step; null: the coordinator writes the file itself. */
  readonly inStep: string | null
  /** A publication may not have the file: for example, version 0 has no training batch. */
  readonly optional?: true
}

/**
 * The files of a publication, in the order of its manifest. Names are never sent; each side has this table. A `base` has no row, because it
 * is in the run's invitation and no publication changes it.
 */
export const PUBLISHED_FILES: readonly PublishedFile[] = [
  { role: 'adapter', name: 'adapter.gguf', inStep: 'adapter.gguf' },
  { role: 'peft-weights', name: 'adapter_model.safetensors', inStep: 'adapter/adapter_model.safetensors' },
  { role: 'peft-config', name: 'adapter_config.json', inStep: 'adapter/adapter_config.json' },
  { role: 'base-config', name: 'base/config.json', inStep: 'base/config.json', optional: true },
  { role: 'optimizer', name: 'optimizer.safetensors', inStep: 'optimizer.safetensors', optional: true },
  { role: 'random-state', name: 'rng.json', inStep: 'rng.json', optional: true },
  { role: 'training-batch', name: 'training-batch.bin', inStep: null, optional: true },
  { role: 'held-out', name: 'held-out.json', inStep: null, optional: true },
  { role: 'provenance', name: 'provenance.json', inStep: null },
  { role: 'model-signature', name: 'model.sig', inStep: null },
]

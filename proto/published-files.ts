import type { BlobRole } from './manifest.js'

export interface PublishedFile {
  readonly role: BlobRole
  /** In the folder that a researcher gets: what PEFT and llama.cpp expect. */
  readonly name: string
  /** Path in the folder of a training step; null: the coordinator writes the file itself. */
  readonly inStep: string | null
  /** Steps that an earlier version made do not have it. */
  readonly optional?: true
}

/**
 * The files of a publication, in the order of its manifest. Names never travel: each side takes them from here. A `base` has no
 * row: it is in the run's invitation, and no publication changes it.
 */
export const PUBLISHED_FILES: readonly PublishedFile[] = [
  { role: 'adapter', name: 'adapter.gguf', inStep: 'adapter.gguf' },
  { role: 'peft-weights', name: 'adapter_model.safetensors', inStep: 'adapter/adapter_model.safetensors' },
  { role: 'peft-config', name: 'adapter_config.json', inStep: 'adapter/adapter_config.json' },
  { role: 'base-config', name: 'base/config.json', inStep: 'base/config.json', optional: true },
  { role: 'provenance', name: 'provenance.json', inStep: null },
  { role: 'model-signature', name: 'model.sig', inStep: null },
]

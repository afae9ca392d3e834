import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

/** Types that llama.cpp quantises a model file to, as `llama-quantize` names them in capitals. */
export type Quantisation = 'q8_0' | 'q4_k_m'

/**
 * Writes a quantised copy of a model with llama.cpp's own code, unless it exists. Volunteers who save memory get such files from the web.
 * @returns  its path
 */
export async function quantisedCopy(model: string, folder: string, type: Quantisation): Promise<string> {
  const target = join(folder, `${type}.gguf`)
  if (existsSync(target)) return target
  const trainer = join(checkout, 'coordinator', 'trainer')
  const script = join(trainer, 'tests', 'engine_library.py')
  await execa(join(checkout, '.venv', 'bin', 'python'), [script, model, target, type], {
    env: { PYTHONPATH: trainer },
    timeout: PATIENCE_MS,
  })
  return target
}

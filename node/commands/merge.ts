import { join } from 'node:path'
import type { Command } from 'commander'
import { stopSignal } from '../../common/cli/index.js'
import { hashFile, mergeAdapter } from '../../rollout/engine/index.js'
import { dataFolder } from './defaults.js'
import { basePath, wholeAdapter } from './model-options.js'

export interface MergeOptions {
  readonly model?: string
  readonly dataDir: string
}

/** The option for the base model of a merge. */
export const MODEL_TO_MERGE = [
  '--model <gguf>',
  'base model, in floating point; default: the fetched base model of the run',
] as const

/** Adds `prove-node adapters merge`: a pulled adapter in the weights of its base model. */
export function addMergeCommand(adapters: Command): void {
  adapters
    .command('merge')
    .description('Write base model and adapter as one GGUF, for programs without support for adapters')
    .argument('<folder>', 'a folder from "pull"')
    .argument('<file>', 'the merged GGUF')
    .option(...MODEL_TO_MERGE)
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action((folder: string, file: string, options: MergeOptions) =>
      mergePulled(folder, file, options, stopSignal().signal),
    )
}

/**
 * Checks a pulled folder, and merges its adapter into the base model. The user may name another file than the run's base, because the
 * same model is often available in floating point. Only the user can know that it is the same model.
 * @throws NodeError `bad_folder`, `wrong_base`; EngineError `model_refused`, `adapter_refused`
 */
export async function mergePulled(
  folder: string,
  merged: string,
  { model, dataDir }: MergeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { manifest } = await wholeAdapter(folder, signal)
  const { base: trained, adapter } = manifest.policy
  const base = model ?? (await basePath(trained, { dataDir }, signal))
  const { rank, alpha, targetModules } = adapter!
  const files = { base, adapter: join(folder, 'adapter.gguf'), merged }
  await mergeAdapter(files, { rank, alpha, targetModules }, signal)
  process.stdout.write(`${merged}\n`)
  if (model === undefined || (await hashFile(model, signal)) === trained.ggufSha256) return
  process.stderr.write(
    `prove-node: ${model} is not the base model of the run (${trained.name} ${trained.quantisation}), with which rewards were measured\n`,
  )
}

import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { type Command, Option } from 'commander'
import { integerOption } from '../../common/cli/index.js'
import type { SealedManifest } from '../../proto/index.js'
import { type AdapterFile, hashFile } from '../../rollout/engine/index.js'
import { DEFAULT_RULES, toolCallFormatNamed } from '../../rollout/episode/index.js'
import { openPolicy, type PolicyOptions, type ServedPolicy } from '../../rollout/inference/index.js'
import { checkPulledFolder } from '../adapters/pulled-folder.js'
import { findBaseModel, readBaseModel } from '../base/find-base.js'
import { openModelCache } from '../base/model-cache.js'
import { checkCanary } from '../policy/canary.js'
import { NodeError } from '../report/errors.js'
import { dataFolder, demoModel } from './defaults.js'

export interface ModelOptions {
  readonly model?: string
  readonly adapter?: string
  readonly toolCallFormat: string
  readonly context?: number
  readonly threads: number
  readonly cpu: boolean
  readonly dataDir: string
}

/** Adds the options that name a model: a pulled folder, or files. */
export function withModelOptions(command: Command): Command {
  const threads = Math.min(8, availableParallelism())
  return command
    .argument('[folder]', 'a folder from "adapters pull"; its base model is found in the data directory')
    .option('--model <gguf>', 'base model; default: the fetched one, or the one in this package')
    .option(
      '--adapter <gguf>',
      'LoRA adapters over the base model, one GGUF instead of a folder; without either, the base model alone',
    )
    .option(
      '--tool-call-format <name>',
      'how the model writes tool calls, without a folder',
      DEFAULT_RULES.toolCallFormat,
    )
    .option(
      '--context <tokens>',
      'longest rollout or conversation, prompt included; default: the run’s longest rollout, or 2048',
      integerOption(64, 1_048_576),
    )
    .addOption(
      new Option('--threads <number>', 'CPU threads of each engine')
        .argParser(integerOption(1, 512))
        .default(threads, 'number of cores, at most 8'),
    )
    .option('--cpu', 'do not use a GPU', false)
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
}

/**
 * Opens the model that the command line names. An adapter of a pulled folder must be signed by its run, and pass its canary.
 * @throws NodeError `bad_folder`, `wrong_base`, `canary_failed`; EngineError; EpisodeError
 */
export async function openNamedPolicy(
  folder: string | undefined,
  options: ModelOptions,
  slots: number,
  signal: AbortSignal,
): Promise<ServedPolicy> {
  if (folder !== undefined && options.adapter !== undefined)
    throw new NodeError('bad_folder', 'give a folder or --adapter, not both')
  const { cpu, threads } = options
  const machine = { slots, threads, gpu: cpu ? (false as const) : ('auto' as const) }
  if (folder === undefined) return openPolicy({ ...(await namedFiles(options, signal)), ...machine }, signal)
  const sealed = await wholeAdapter(folder, signal)
  const policy = await openPolicy({ ...(await namedFolder(folder, sealed, options, signal)), ...machine }, signal)
  try {
    await checkCanary(policy.engine, sealed.manifest, signal)
    return policy
  } catch (error) {
    await policy.close()
    throw error
  }
}

type NamedPolicy = Omit<PolicyOptions, 'slots' | 'threads' | 'gpu'>

const DEFAULT_CONTEXT = 2048

async function namedFiles(options: ModelOptions, signal: AbortSignal): Promise<NamedPolicy> {
  const { model: modelPath = demoModel, adapter: path, context: contextSize = DEFAULT_CONTEXT } = options
  const adapter: AdapterFile | null = path === undefined ? null : { path, sha256: await hashFile(path, signal) }
  const name = basename(path ?? modelPath).replace(/\.gguf$/, '')
  return { name, modelPath, adapter, toolCallFormat: toolCallFormatNamed(options.toolCallFormat), contextSize }
}

/** Returns the manifest of a pulled folder whose adapter is unchanged. @throws NodeError `bad_folder` */
export async function wholeAdapter(folder: string, signal: AbortSignal): Promise<SealedManifest> {
  const { sealed, files } = await checkPulledFolder(folder, null, signal)
  const adapter = files.find(({ name }) => name === 'adapter.gguf')
  if (adapter?.outcome === 'ok') return sealed
  throw new NodeError(
    'bad_folder',
    `${join(folder, 'adapter.gguf')}: ${adapter?.detail ?? 'the publication has no adapter'}`,
  )
}

async function namedFolder(
  folder: string,
  { manifest }: SealedManifest,
  options: ModelOptions,
  signal: AbortSignal,
): Promise<NamedPolicy> {
  const { base, adapter, toolCallFormat } = manifest.policy
  const { rank, alpha, targetModules, sha256 } = adapter!
  return {
    name: `${base.name}-v${manifest.version}`,
    modelPath: await basePath(base, options, signal),
    adapter: { path: join(folder, 'adapter.gguf'), sha256, shape: { rank, alpha, targetModules } },
    toolCallFormat: toolCallFormatNamed(toolCallFormat),
    contextSize: options.context ?? manifest.limits.maxRolloutTokens,
  }
}

/** Returns the path of a run's base model, or checks the model that the user names. @throws NodeError `wrong_base` */
export async function basePath(
  { name, ggufSha256: sha256 }: SealedManifest['manifest']['policy']['base'],
  { model, dataDir }: Pick<ModelOptions, 'model' | 'dataDir'>,
  signal: AbortSignal,
): Promise<string> {
  if (model !== undefined) {
    const given = await readBaseModel(model, signal)
    if (given.blob.sha256 === sha256) return given.path
    throw new NodeError(
      'wrong_base',
      `the adapter needs ${name} with SHA-256 ${sha256}, but ${model} has ${given.blob.sha256}`,
    )
  }
  const found = await findBaseModel(sha256, { packaged: demoModel, cache: await openModelCache(dataDir) }, signal)
  if (found) return found.path
  throw new NodeError('wrong_base', `${name}, SHA-256 ${sha256}, is not in ${dataDir}: give the file with --model`)
}

#!/usr/bin/env node
import '../swarm/polyfill.js'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import envPaths from 'env-paths'
import { EngineError } from '../engine/index.js'
import { DEFAULT_LIMITS, EpisodeError } from '../episode/index.js'
import { CalibrationError } from '../judging/index.js'
import { LIMITS } from '../proto/index.js'
import {
  createStderrLogger,
  exportIdentity,
  IdentityError,
  importIdentity,
  type JoinAddress,
  openIdentity,
  parseJoinAddress,
  TransportError,
} from '../swarm/index.js'
import { openAdapterLibrary } from './adapters.js'
import { NodeError } from './errors.js'
import { type NodeProgress, progressLine } from './progress.js'
import { startNode } from './start-node.js'
import { addVerdictsCommand } from './verdicts-command.js'
import { addVerifyCommand } from './verify-command.js'

const dataFolder = envPaths('prove-node', { suffix: '' }).data
const demoModel = fileURLToPath(
  new URL(
    `${import.meta.url.includes('/dist/') ? '../../' : '../'}models/demo/prove-demo-base-f16.gguf`,
    import.meta.url,
  ),
)

const addressArgument = (text: string): JoinAddress => {
  try {
    return parseJoinAddress(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

const countOption = (text: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 256)
    throw new InvalidArgumentError('Give an integer from 1 to 256.')
  return value
}

const contextOption = (text: string): number => {
  const value = Number(text)
  const most = LIMITS.rolloutTokens.value
  if (!Number.isInteger(value) || value < 256 || value > most)
    throw new InvalidArgumentError(`Give an integer from 256 to ${most}.`)
  return value
}

const memoryOption = (text: string): number => {
  const gibibytes = Number(text)
  if (!(gibibytes >= 0.1 && gibibytes <= 4096)) throw new InvalidArgumentError('Give a number from 0.1 to 4096.')
  return Math.round(gibibytes * 2 ** 30)
}

const program = new Command('prove-node').description('Take part in a PROVE training swarm')
program.enablePositionalOptions()

program
  .command('join')
  .description('Generate rollouts for a run until stopped')
  .argument('<address>', 'address of the coordinator, ending in /p2p/ and its key', addressArgument)
  .option('--data-dir <folder>', 'identity, unsent groups and verdicts', dataFolder)
  .option(
    '--model <gguf>',
    'the base model of the run; default: the demo model that comes with this package',
    demoModel,
  )
  .option('--listen <address...>', 'libp2p addresses to listen on; without any, the node only dials out', [])
  .option('--threads <number>', 'CPU threads for inference', countOption, 1)
  .option('--lanes <number>', 'rollouts generated in parallel', countOption, 16)
  .option(
    '--context <tokens>',
    'longest rollout that fits, prompt included; memory grows with it and with the lanes',
    contextOption,
    DEFAULT_LIMITS.maxRolloutTokens,
  )
  .option('--cpu', 'do not use a GPU', false)
  .option(
    '--memory <GiB>',
    "main memory that inference may take, the model included; default: three quarters of the machine's",
    memoryOption,
  )
  .option('--json', 'report progress as JSON lines on stdout', false)
  .addOption(
    new Option('--log-level <level>', 'what is logged on stderr')
      .choices(['trace', 'debug', 'info', 'warn', 'error'])
      .default('warn'),
  )
  .action(joinRun)

interface JoinOptions {
  dataDir: string
  model: string
  listen: string[]
  threads: number
  lanes: number
  context: number
  cpu: boolean
  memory?: number
  json: boolean
  logLevel: string
}

async function joinRun(coordinator: JoinAddress, options: JoinOptions): Promise<void> {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  let pause: string | null = null
  const onProgress = (progress: NodeProgress): void => {
    const line = options.json ? JSON.stringify(progress) : progressLine(progress)
    // Asked every few seconds, the coordinator gives the same reason for hours.
    const known = !options.json && progress.type === 'idle' && line === pause
    if (progress.type === 'idle' || progress.type === 'group') pause = line
    if (line !== null && !known) process.stdout.write(`${line}\n`)
  }
  const node = await startNode({
    coordinator,
    dataDir: options.dataDir,
    modelPath: options.model,
    listen: options.listen,
    threads: options.threads,
    lanes: options.lanes,
    contextSize: options.context,
    gpu: options.cpu ? false : 'auto',
    ...(options.memory === undefined ? {} : { memoryLimitBytes: options.memory }),
    logger: createStderrLogger(options.logLevel),
    onProgress,
  }).catch((error: unknown) => {
    // A terminal sends Ctrl-C to the processes that the start needs, too.
    if (stop.signal.aborted) return null
    throw error
  })
  if (node === null) return
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(), { once: true })
    if (stop.signal.aborted) resolve()
  })
  try {
    await Promise.race([node.work, stopped])
  } finally {
    await node.close()
  }
}

const identity = program.command('identity').description('The key that names this node')
identity
  .command('show')
  .option('--data-dir <folder>', 'where the identity is kept', dataFolder)
  .action(async ({ dataDir }: { dataDir: string }) => {
    process.stdout.write(`${(await openIdentity(dataDir)).peerId}\n`)
  })
identity
  .command('export')
  .description('Print the private key; whoever has it is this node')
  .option('--data-dir <folder>', 'where the identity is kept', dataFolder)
  .action(async ({ dataDir }: { dataDir: string }) => {
    process.stdout.write(`${exportIdentity(await openIdentity(dataDir))}\n`)
  })
identity
  .command('import')
  .argument('<key>', 'what `identity export` printed')
  .option('--data-dir <folder>', 'where the identity is kept', dataFolder)
  .option('--replace', 'give up the key that is there', false)
  .action(async (text: string, { dataDir, replace }: { dataDir: string; replace: boolean }) => {
    process.stdout.write(`${(await importIdentity(dataDir, text, replace)).peerId}\n`)
  })

addVerdictsCommand(program, dataFolder)
addVerifyCommand(program, dataFolder, demoModel)

const adapters = program.command('adapters').description('What a run has published')
const withLibrary = async (
  coordinator: JoinAddress,
  dataDir: string,
  use: (library: Awaited<ReturnType<typeof openAdapterLibrary>>, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort(new Error('stopped')))
  const library = await openAdapterLibrary(coordinator, join(dataDir, 'adapters'), stop.signal)
  try {
    await use(library, stop.signal)
  } finally {
    await library.close()
  }
}
adapters
  .command('list')
  .argument('<address>', 'address of the coordinator', addressArgument)
  .option('--data-dir <folder>', 'where downloads are kept', dataFolder)
  .action((coordinator: JoinAddress, { dataDir }: { dataDir: string }) =>
    withLibrary(coordinator, dataDir, async (library, signal) => {
      const { manifest } = await library.newest(signal)
      process.stdout.write(
        `version ${manifest.version} of ${manifest.policy.base.name}, ${new Date(manifest.createdAtMs).toISOString()}\n`,
      )
      for (const { role, sizeBytes, sha256 } of manifest.blobs) {
        process.stdout.write(`  ${role.padEnd(14)} ${String(sizeBytes).padStart(10)} B  ${sha256}\n`)
      }
    }),
  )
adapters
  .command('pull')
  .description('Download the newest adapter: a PEFT directory with the GGUF beside it')
  .argument('<address>', 'address of the coordinator', addressArgument)
  .argument('<folder>', 'where to put it')
  .option('--data-dir <folder>', 'where downloads are kept', dataFolder)
  .action((coordinator: JoinAddress, folder: string, { dataDir }: { dataDir: string }) =>
    withLibrary(coordinator, dataDir, async (library, signal) => {
      const publication = await library.newest(signal)
      for (const path of await library.pull(publication, folder, signal)) process.stdout.write(`${path}\n`)
    }),
  )

/** What the volunteer can put right; anything else is a fault of ours and keeps its stack trace. */
const EXPECTED = [NodeError, EngineError, EpisodeError, TransportError, IdentityError, CalibrationError]
const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'

try {
  await program.parseAsync()
} catch (error) {
  const missing =
    !existsSync(demoModel) && error instanceof NodeError && error.code === 'wrong_base'
      ? ' (give the base model with --model)'
      : ''
  if (!isFileError(error) && !EXPECTED.some((kind) => error instanceof kind)) throw error
  process.stderr.write(`prove-node: ${(error as Error).message}${missing}\n`)
  process.exitCode = 1
}

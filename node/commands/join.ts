import { createInterface } from 'node:readline/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_LIMITS } from '../../episode/index.js'
import { LIMITS } from '../../proto/index.js'
import { createStderrLogger } from '../../swarm/index.js'
import { type NodeProgress, progressLine } from '../progress.js'
import { startNode } from '../start-node.js'
import { type NamedRun, RUN_ARGUMENT, runArgument } from './arguments.js'
import { dataFolder, demoModel } from './defaults.js'

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

/** `prove-node join`: work for a run. */
export function addJoinCommand(program: Command): void {
  program
    .command('join')
    .description('Generate rollouts for a run until stopped')
    .argument(...RUN_ARGUMENT, runArgument)
    .option('--data-dir <folder>', 'identity, unsent groups, verdicts and fetched base models', dataFolder)
    .option('--model <gguf>', 'the base model of the run, if you have it already; default: it is fetched')
    .option('--yes', 'take part without being asked first', false)
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
}

interface JoinOptions {
  dataDir: string
  model?: string
  yes: boolean
  listen: string[]
  threads: number
  lanes: number
  context: number
  cpu: boolean
  memory?: number
  json: boolean
  logLevel: string
}

async function joinRun(named: () => Promise<NamedRun>, options: JoinOptions): Promise<void> {
  const { coordinator, invitation } = await named()
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
    invitation,
    dataDir: options.dataDir,
    modelPath: options.model ?? null,
    packagedModel: demoModel,
    agree: options.yes || options.json || !process.stdin.isTTY || !process.stdout.isTTY ? async () => true : ask,
    signal: stop.signal,
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

async function ask(_plan: unknown, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question('Take part? [Y/n] ', { signal })
    return !/^\s*n/i.test(answer)
  } finally {
    terminal.close()
  }
}

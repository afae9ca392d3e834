import '../../swarm/polyfill.js'
import { availableParallelism } from 'node:os'
import Table from 'cli-table3'
import { Command, InvalidArgumentError, Option } from 'commander'
import { demoModel } from '../../node/commands/defaults.js'
import { openTokenizer } from '../../rollout/engine/index.js'
import { examineEngine, sampleReference, TRIALS } from './engines.js'
import { engineFindings, type Finding, trainerFindings } from './findings.js'
import { lavapipeEnvironment } from './lavapipe.js'
import { examineTrainer } from './trainer.js'

/** What the exit status says. */
const STATUS = { agrees: 0, differs: 1, nothingFound: 3 } as const

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 1024) throw new InvalidArgumentError('Give a whole number.')
  return value
}

interface Options {
  readonly part: 'engine' | 'trainer' | 'both'
  readonly software: boolean
  readonly model: string
  readonly threads: number
  readonly minutes: number
}

const options = new Command('gpu-check')
  .description('Compare what this machine’s GPU computes with what its CPU does')
  .addOption(
    new Option('--part <part>', 'the engine of volunteers, or the trainer of operators')
      .choices(['engine', 'trainer', 'both'])
      .default('both'),
  )
  .option('--software', 'the engine on Mesa’s Vulkan driver for CPUs, and no trainer', false)
  .option('--model <file>', 'base model', demoModel)
  .option('--threads <number>', 'threads on the CPU', count, availableParallelism())
  .option('--minutes <number>', 'give up after so long', count, 30)
  .addHelpText(
    'after',
    '\nExit status: 0 all agrees, 1 something differs or fails, 2 wrong use, 3 there was nothing to compare.',
  )
  .parse()
  .opts<Options>()

/** @returns  or why there is nothing to compare */
async function checkEngine(signal: AbortSignal): Promise<readonly Finding[] | { readonly lacks: string }> {
  if (options.software) {
    const env = lavapipeEnvironment()
    if (env === null)
      return { lacks: 'Mesa’s lavapipe is not on this machine (apt-get install mesa-vulkan-drivers libvulkan1)' }
    Object.assign(process.env, env)
  }
  const tokenizer = await openTokenizer(options.model)
  try {
    const trial = options.software ? TRIALS.software : TRIALS.hardware
    const bench = { modelPath: options.model, threads: options.threads, tokenizer, trial }
    const rollouts = await sampleReference(bench, signal)
    const gpu = await examineEngine(bench, 'auto', rollouts, signal)
    if (gpu.placement.layers === 0)
      return { lacks: 'llama.cpp finds no GPU with a driver for CUDA, Vulkan or Metal with enough memory for a layer' }
    if (options.software && gpu.placement.device !== 'lavapipe')
      return { lacks: `llama.cpp prefers ${gpu.placement.device} (${gpu.placement.deviceNames.join(', ')})` }
    return engineFindings(await examineEngine(bench, false, rollouts, signal), gpu)
  } finally {
    await tokenizer.close()
  }
}

async function checkTrainer(signal: AbortSignal): Promise<readonly Finding[] | { readonly lacks: string }> {
  const found = await examineTrainer(options.model, signal)
  return 'lacks' in found ? found : trainerFindings(found)
}

function tableOf(name: string, found: readonly Finding[]): string {
  const table = new Table({ head: [name, 'found', 'wanted', ''], style: { head: [], border: [] } })
  for (const { what, found: is, wanted, holds } of found)
    table.push([what, is, wanted, holds === null ? '' : holds ? 'ok' : 'DIFFERS'])
  return table.toString()
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const signal = AbortSignal.timeout(options.minutes * 60_000)
const parts = [
  ...(options.part !== 'trainer' ? [{ name: 'engine', check: checkEngine }] : []),
  ...(options.part !== 'engine' && !options.software ? [{ name: 'trainer', check: checkTrainer }] : []),
]
const findings: Finding[] = []
let failed = false
for (const { name, check } of parts) {
  try {
    const found = await check(signal)
    if ('lacks' in found) {
      console.log(`SKIPPED: ${name}: ${found.lacks}`)
      continue
    }
    console.log(tableOf(name, found))
    findings.push(...found)
  } catch (error) {
    // The other part can still be compared.
    console.log(`FAILED: ${name}: ${messageOf(error)}`)
    failed = true
  }
}
if (failed || findings.some(({ holds }) => holds === false)) process.exitCode = STATUS.differs
else process.exitCode = findings.length === 0 ? STATUS.nothingFound : STATUS.agrees

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { type Command, Option } from 'commander'
import { execa } from 'execa'
import { interruptible, packageRoot } from '../../common/cli/index.js'
import { UsageError } from '../../common/errors/index.js'
import {
  BUILD_MEGABYTES,
  gpuOfThisMachine,
  gpuPackages,
  missingGpuPackages,
  SEPARATE_BUILDS,
  type SeparateBuild,
} from '../../rollout/engine/index.js'
import { NodeError } from '../report/errors.js'

/** Time limit of npm. The packages have half a gigabyte. */
const TIMEOUT_MS = 60 * 60_000

interface SetupOptions {
  readonly backend?: SeparateBuild
  readonly yes: boolean
}

/** Adds `prove-node setup`: the engine's builds for a GPU, which a machine without a GPU need not download. */
export function addSetupCommand(program: Command): void {
  program
    .command('setup')
    .description("Install the inference engine's build for the GPU of this machine")
    .addOption(
      new Option('--backend <name>', 'interface to the GPU; default: CUDA for NVIDIA, Vulkan for others').choices(
        SEPARATE_BUILDS,
      ),
    )
    .option('--yes', 'ask nothing', false)
    .action(setUp)
}

async function setUp({ backend, yes }: SetupOptions): Promise<void> {
  const by = backend ?? gpuOfThisMachine()
  if (by === null)
    throw new NodeError('no_gpu', 'this machine shows no GPU, and the CPU needs nothing more: name one with --backend')
  if (gpuPackages(by).length === 0)
    throw new NodeError('no_gpu', `the engine has no separate ${by} build for ${process.platform} on ${process.arch}`)
  const missing = missingGpuPackages(by)
  if (missing.length === 0) {
    process.stdout.write(`the ${by} build of the engine is installed\n`)
    return
  }
  const command = installCommand(missing, packageRoot)
  if (!yes && !(await isWanted(by, command))) return
  await interruptible('run the same command again to continue', (signal) =>
    execa('npm', command, { stdio: 'inherit', cancelSignal: signal, timeout: TIMEOUT_MS }).catch((cause: Error) => {
      throw new NodeError('no_gpu', `npm ${command.join(' ')} failed: correct what npm reports above, and repeat`, {
        cause,
      })
    }),
  )
  process.stdout.write(`the ${by} build of the engine is installed; prove-node doctor tries it\n`)
}

/**
 * Returns the arguments of npm that put packages where the engine looks for them.
 * @param root  folder of this package, ending in a slash
 * @throws UsageError in a checkout, whose packages `npm run setup` installs
 */
export function installCommand(names: readonly string[], root: string): string[] {
  const modules = dirname(root)
  if (!/node_modules[/\\]$/.test(join(modules, '/')))
    throw new UsageError('usage', 'this is a checkout: run npm run setup -- --gpu')
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const wanted = names.map((name) => `${name}@${dependencies['node-llama-cpp']}`)
  const project = dirname(modules)
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  if (existsSync(join(project, 'package.json')))
    return ['install', '--no-save', '--prefix', project, ...quiet, ...wanted]
  // On Windows a global package has no folder lib above it.
  const prefix = process.platform === 'win32' ? project : dirname(project)
  return ['install', '--global', '--prefix', prefix, ...quiet, ...wanted]
}

async function isWanted(by: SeparateBuild, command: readonly string[]): Promise<boolean> {
  process.stdout.write(`The ${by} build of the engine needs ${BUILD_MEGABYTES[by]} MB:\n  npm ${command.join(' ')}\n`)
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    process.stdout.write('Without a terminal, --yes installs it.\n')
    return false
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return !/^\s*n/i.test(await terminal.question('Install it? [Y/n] '))
  } finally {
    terminal.close()
  }
}

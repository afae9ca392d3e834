import { mkdir, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { packageRoot } from '../../common/cli/index.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import type { Service } from '../background/service-file.js'
import { type ServiceManager, serviceManagerOf } from '../background/services-here.js'
import { stableNode } from '../background/stable-node.js'
import { RUN_ARGUMENT, runArgument } from './arguments.js'
import { dataFolder } from './defaults.js'

interface InstallOptions {
  readonly dataDir: string
  readonly environments: readonly string[]
  readonly print: boolean
}

/** Adds `prove-node service`: a node that the system starts with its user's session. */
export function addServiceCommands(program: Command): void {
  const service = program.command('service').description('Start this node with your session')
  const [name, description] = RUN_ARGUMENT
  withEnvironmentFolders(service.command('install'))
    .description('Write the service file for systemd (Linux) or launchd (macOS), without starting the node')
    .argument(name, description, (text: string) => ({ text, named: runArgument(text) }))
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--print', 'print the file instead of writing it', false)
    .action(async (run: { text: string; named: ReturnType<typeof runArgument> }, options: InstallOptions) => {
      const { invitation } = await run.named()
      const asked = invitation && [invitation.operator, invitation.purpose].filter((words) => words !== '')
      await install(serviceManagerOf(process.platform), serviceFor(run.text, options), asked, options.print)
    })
  service
    .command('uninstall')
    .description('Remove the service file; identity, verdicts and limits stay')
    .action(() => uninstall(serviceManagerOf(process.platform)))
}

/** Describes the service. Its command has `--yes`, because a service cannot ask. @param options  folders, absolute or relative to the current one */
export function serviceFor(
  run: string,
  { dataDir, environments }: Pick<InstallOptions, 'dataDir' | 'environments'>,
): Service {
  const folder = resolve(dataDir)
  return {
    command: [
      stableNode(process.execPath, process.env.PATH ?? ''),
      join(packageRoot, 'bin', 'prove-node.cjs'),
      ...['join', run.replaceAll(/\s+/g, ''), '--data-dir', folder, '--yes', '--plain'],
      ...environments.flatMap((environment) => ['--environments', resolve(environment)]),
    ],
    workingDirectory: homedir(),
    logFile: join(folder, 'service.log'),
  }
}

async function install(
  { path, text, enable, notes }: ServiceManager,
  service: Service,
  invited: readonly string[] | null,
  print: boolean,
): Promise<void> {
  const wanted = text(service)
  if (print) {
    process.stdout.write(wanted)
    return
  }
  const before = await textOf(path)
  if (before !== wanted) {
    await mkdir(dirname(path), { recursive: true })
    // The system opens the log before the node can create its folder.
    await mkdir(dirname(service.logFile), { recursive: true, mode: 0o700 })
    await writeFileAtomic(path, wanted)
  }
  const done = before === wanted ? 'is up to date' : before === null ? 'is written' : 'is replaced'
  process.stdout.write(
    [
      `${path} ${done}`,
      ...(invited === null || invited.length === 0 ? [] : [`the run: ${invited.join('; ')}`]),
      'prove-node limits applies to this node; prove-node status, pause and finish control it',
      'to start it now, and with every session:',
      ...enable.map((command) => `  ${command}`),
      ...notes(service),
      '',
    ].join('\n'),
  )
}

async function uninstall({ path, disable }: ServiceManager): Promise<void> {
  const before = await textOf(path)
  await rm(path, { force: true })
  process.stdout.write(
    before === null
      ? `${path} does not exist: no service is installed\n`
      : [`${path} is removed; to end a running node:`, ...disable.map((command) => `  ${command}`), ''].join('\n'),
  )
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

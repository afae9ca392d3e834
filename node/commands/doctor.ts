import type { Command } from 'commander'
import { EXIT, stopSignal } from '../../common/cli/index.js'
import { parseJoinAddress } from '../../swarm/index.js'
import { CHECKS, make } from '../doctor/checks.js'
import { examine } from '../doctor/examination.js'
import type { Finding } from '../doctor/finding.js'
import { changed, readLimits } from '../limits/limits-file.js'
import { DEFAULTS } from '../limits/settings.js'
import { STATUS } from '../session/routes.js'
import { type NodeView, nodeView } from '../session/view.js'
import { type NamedRun, RUN_ARGUMENT, runArgument } from './arguments.js'
import { dataFolder, demoModel } from './defaults.js'
import { findNode } from './running-node.js'

interface DoctorOptions {
  readonly dataDir: string
  readonly model?: string
  readonly cpu: boolean
  readonly json: boolean
}

/** Adds `prove-node doctor`: an examination of this machine. The exit status is 1 if there is a problem. */
export function addDoctorCommand(program: Command): void {
  const [name, description] = RUN_ARGUMENT
  program
    .command('doctor')
    .description('Check whether this machine can work for a run, and advise what to change')
    .argument(`[${name.slice(1, -1)}]`, `${description}; default: the run of the running node`, runArgument)
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--model <gguf>', 'base model, of the run, if you already have the file')
    .option('--cpu', 'do not use a GPU', false)
    .option('--json', 'print JSON on stdout', false)
    .action(doctor)
}

async function doctor(named: (() => Promise<NamedRun>) | undefined, options: DoctorOptions): Promise<void> {
  const { dataDir, model, cpu, json } = options
  const { signal } = stopSignal()
  const node = await viewOf(dataDir)
  const kept = changed(DEFAULTS, await readLimits(dataDir))
  const examination = examine({
    ...{ dataDir, packagedModel: demoModel, node },
    modelPath: model ?? null,
    limits: cpu ? { ...kept, gpu: 'none' } : kept,
    run: named ? await named() : node && { coordinator: parseJoinAddress(node.coordinator), invitation: null },
  })
  const findings: (Finding & { readonly name: string })[] = []
  try {
    for (const check of CHECKS) {
      const finding = await make(check, examination, signal)
      findings.push({ name: check.name, ...finding })
      if (!json) process.stdout.write(`${linesOf(check.name, finding)}\n`)
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    await examination.close()
  }
  const problems = findings.filter(({ grade }) => grade === 'problem').length
  if (json) process.stdout.write(`${JSON.stringify({ problems, checks: findings })}\n`)
  if (problems > 0) process.exitCode = EXIT.failed
}

async function viewOf(dataDir: string): Promise<NodeView | null> {
  const node = await findNode(dataDir)
  return node && nodeView.parse(await node.get(STATUS))
}

const NAME_COLUMNS = 12
const GRADE_COLUMNS = 9

function linesOf(name: string, { grade, found, advice }: Finding): string {
  const first = `${name.padEnd(NAME_COLUMNS)}${grade.padEnd(GRADE_COLUMNS)}${found}`
  return advice === undefined ? first : `${first}\n${' '.repeat(NAME_COLUMNS + GRADE_COLUMNS)}-> ${advice}`
}

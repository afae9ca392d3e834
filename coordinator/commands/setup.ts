import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { installedEnvironment, trainerFolder } from '../jobs/python.js'
import { setUpPython } from '../jobs/python-setup.js'

/** Adds `prove-coordinator setup`, which installs the trainer's Python packages. */
export function addSetupCommand(program: Command): void {
  program
    .command('setup')
    .description("Install the trainer's Python packages (PyTorch and a few more, pinned) into a virtual environment")
    .option(
      '--venv <folder>',
      'virtual environment for the Python packages; name its bin/python as trainer.python in run.yaml',
      installedEnvironment,
    )
    .option('--python <command>', 'Python to use, 3.10 or newer; default: the Python of the system')
    .action(setUp)
}

async function setUp({ venv, python }: { venv: string; python?: string }): Promise<void> {
  const ready = await interruptible('run the same command again to continue', (signal) =>
    setUpPython({
      folder: resolve(venv),
      requirements: [join(trainerFolder, 'requirements.txt')],
      ...(python === undefined ? {} : { candidates: [python] }),
      onStep: (what) => process.stderr.write(`prove-coordinator: ${what}\n`),
      signal,
    }),
  )
  process.stdout.write(`${ready}\n`)
}

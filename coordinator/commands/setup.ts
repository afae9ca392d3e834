import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { installedEnvironment, trainerFolder } from '../jobs/python.js'
import { setUpPython } from '../jobs/python-setup.js'

/** `prove-coordinator setup`: what the trainer needs beside this package. */
export function addSetupCommand(program: Command): void {
  program
    .command('setup')
    .description(
      "Install the trainer's Python packages (PyTorch and a few more, pinned) into an environment of their own",
    )
    .option('--into <folder>', 'where; name its bin/python as trainer.python in run.yaml then', installedEnvironment)
    .option('--python <command>', 'the Python to build on, 3.10 or newer; default: the system’s')
    .action(setUp)
}

async function setUp({ into, python }: { into: string; python?: string }): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort(new Error('stopped')))
  const ready = await setUpPython({
    folder: resolve(into),
    requirements: [join(trainerFolder, 'requirements.txt')],
    ...(python === undefined ? {} : { candidates: [python] }),
    onStep: (what) => process.stderr.write(`prove-coordinator: ${what}\n`),
    signal: stop.signal,
  })
  process.stdout.write(`${ready}\n`)
}

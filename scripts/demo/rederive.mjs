// The last act of a demo: a stranger makes one of its training steps again.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

const program = fileURLToPath(new URL('../../dist/node/main.js', import.meta.url))

/**
 * Makes the newest training step of a running demo again from its published evidence, and says the verdict.
 * @param address  address of the coordinator, which has to run
 * @param folder   folder of the demo
 * @param model    base model of the run
 * @param gpu      whether the run's trainer uses a GPU
 * @param signal   ends the work
 * @param say      prints a line
 */
export async function rederiveNewestStep({ address, folder, model, gpu = false, signal, say }) {
  const { stdout } = await execa(
    process.execPath,
    [
      ...[program, 'adapters', 'rederive', address, '--data-dir', join(folder, 'stranger'), '--model', model],
      ...(gpu ? ['--cuda'] : []),
    ],
    { cancelSignal: signal, stdin: 'ignore', stderr: { file: join(folder, 'stranger.log') }, reject: false },
  )
  signal.throwIfAborted()
  say(stdout.trim() || `The newest step could not be made again: see ${join(folder, 'stranger.log')}`)
}

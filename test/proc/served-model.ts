import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import * as assert from 'uvu/assert'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'

/**
 * Lets `prove-node serve` run for as long as the work does, on a free port and one core.
 * @param args  which model it serves
 * @param work  gets the URL that the program tells
 */
export async function withServedModel(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  work: (url: string) => Promise<void>,
): Promise<void> {
  const main = join(checkout, 'dist', 'node', 'main.js')
  const program = execa(process.execPath, [main, 'serve', ...args, '--port', '0', '--cpu', '--threads', '1'], {
    ...{ cwd, env: { ...env, NO_COLOR: '1', FORCE_COLOR: undefined } },
    ...{ stdin: 'ignore', reject: false, timeout: 3 * PATIENCE_MS },
  })
  try {
    const lines = createInterface({ input: program.stdout })
    const ended = program.then(({ stderr }) => Promise.reject(new Error(`prove-node serve ended: ${stderr}`)))
    const [line] = (await Promise.race([once(lines, 'line', { signal: patience() }), ended])) as [string]
    const url = / at (http:\S+), context /.exec(line)?.[1]
    assert.ok(url, line)
    ended.catch(() => undefined)
    await work(url)
  } finally {
    program.kill('SIGTERM')
  }
  const { exitCode, stderr } = await program
  assert.is(exitCode, 0, stderr)
}

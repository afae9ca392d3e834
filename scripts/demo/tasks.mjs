import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './swarm-run.mjs'

/** Least share of the wanted held-out tasks that a demo accepts: one environment has a limited number of tool chains. */
const ENOUGH = 0.9

/**
 * Makes a data set of the demos' short tasks.
 * @param training  number of training tasks
 * @param heldOut   number of held-out tasks
 * @param out       name of the data set in `folder`
 * @param say       prints a line
 * @throws Error if the environments give too few distinct held-out tasks, or fewer training tasks than wanted
 */
export async function makeTasks(environments, { seed, training, heldOut, out, folder, signal, say }) {
  const flags = [
    ...['synthesize', '--profile', 'demo', '--environments', environments.join(','), '--seed', `${seed}`],
    ...['--examples', `${training + heldOut}`, '--validation', '0'],
    ...['--held-out', `${heldOut / (training + heldOut)}`, '--out', out],
  ]
  try {
    await runProgram('lab', flags, { folder, signal, log: `synthesize-${out}.log` })
  } catch (failure) {
    signal.throwIfAborted()
    // The command also fails when it has written a data set that is smaller than wanted.
    const manifest = join(folder, out, 'manifest.json')
    if (!existsSync(manifest)) throw failure
    const { counts } = JSON.parse(await readFile(manifest, 'utf8'))
    const found = counts['held-out'].examples
    if (counts.train.examples < training || found < ENOUGH * heldOut) throw failure
    say(
      `${environments.join(', ')} ${environments.length === 1 ? 'has' : 'have'} only ${found} distinct held-out tasks`,
    )
  }
}

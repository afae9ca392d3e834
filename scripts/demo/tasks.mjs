import { runProgram } from './swarm-run.mjs'

/**
 * Makes a data set of the demos' short tasks.
 * @param training  number of training tasks
 * @param heldOut   number of held-out tasks
 * @param out       name of the data set in `folder`
 */
export const makeTasks = (environments, { seed, training, heldOut, out, folder, signal }) =>
  runProgram(
    'lab',
    [
      ...['synthesize', '--profile', 'demo', '--environments', environments.join(','), '--seed', `${seed}`],
      ...['--examples', `${training + heldOut}`, '--validation', '0'],
      ...['--held-out', `${heldOut / (training + heldOut)}`, '--out', out],
    ],
    { folder, signal, log: `synthesize-${out}.log` },
  )

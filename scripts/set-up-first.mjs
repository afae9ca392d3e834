// Runs the set-up before a program of the checkout, with the output of the set-up on stderr: stdout is for the program's results.
import { spawnSync } from 'node:child_process'
import { root, startGroup } from './processes.mjs'

/** Runs the set-up, and ends this process if the set-up fails. @param args  options of setup.mjs */
export function setUpFirst(args = []) {
  const { status } = spawnSync(process.execPath, [`${root}scripts/setup.mjs`, ...args], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * Runs a compiled program with the arguments of this script, and ends with the exit status of that program.
 * @param main  path below the checkout
 * @param nodeOptions  options of Node.js itself
 */
export function runProgram(main, { nodeOptions = [], env = {} } = {}) {
  const child = startGroup(process.execPath, [...nodeOptions, `${root}${main}`, ...process.argv.slice(2)], {
    cwd: process.cwd(),
    env: { ...process.env, ...env },
    stdio: 'inherit',
    forwards: true,
  })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
    process.exit()
  })
}

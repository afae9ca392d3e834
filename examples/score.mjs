// Scores two rollouts of a task: one that makes the reference calls, and one that does nothing. Usage: node examples/score.mjs
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const folder = dirname(createRequire(import.meta.url).resolve('prove-swarm/package.json'))
const [line] = readFileSync(join(folder, 'servers/episodes/playground/tasks.jsonl'), 'utf8').split('\n')
const task = JSON.parse(line)

// A call log, as a trainer of your own would record it.
const right = {
  task,
  calls: task.groundTruth.map(({ name, arguments: input }) => ({ name, arguments: input, ok: true })),
}
const wrong = { task, calls: [] }

const { stdout, status } = spawnSync(process.execPath, [join(folder, 'bin', 'prove-server.cjs'), 'score'], {
  input: [right, wrong].map((rollout) => `${JSON.stringify(rollout)}\n`).join(''),
  encoding: 'utf8',
})
const rewards = stdout
  .trim()
  .split('\n')
  .map((answer) => JSON.parse(answer).total)
console.log(`reference calls: ${rewards[0]}, no calls: ${rewards[1]}`)
process.exitCode = status

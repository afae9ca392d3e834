// Compares what the engine computes on this machine's GPU with what it computes on the CPU, and prints a table.
// Usage: npm run gpu-check -- [--model file.gguf] [--tokens 32] [--lanes 4] [--software]
// `--software` takes Mesa's Vulkan on the CPU (lavapipe) for the GPU: a few tokens a second, for machines that have none.
// Status 0: the same, or skipped, which it says; 1: something else.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Where Linux distributions describe Vulkan's drivers. */
const DRIVERS = ['/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/etc/vulkan/icd.d']

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    tokens: { type: 'string', default: '32' },
    lanes: { type: 'string', default: '4' },
    software: { type: 'boolean', default: false },
  },
})
const [tokens, lanes] = [Number(values.tokens), Number(values.lanes)]
if (!Number.isSafeInteger(tokens) || tokens < 1 || !Number.isSafeInteger(lanes) || lanes < 1 || lanes > 64) {
  console.error('gpu-check: --tokens and --lanes are positive integers, at most 64 lanes')
  process.exit(2)
}

if (values.software) {
  const lavapipe = DRIVERS.filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    .find((path) => /lvp_icd.*\.json$/.test(path))
  if (lavapipe === undefined) {
    console.error("gpu-check: skipped, Mesa's software Vulkan is not there (Debian: mesa-vulkan-drivers, libvulkan1)")
    process.exit(0)
  }
  Object.assign(process.env, { VK_ICD_FILENAMES: lavapipe, VK_DRIVER_FILES: lavapipe })
}

const { status } = spawnSync(process.execPath, [`${root}scripts/setup.mjs`], { stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(status ?? 1)
const { checkGpu } = await import('../dist/bench/gpu-check.js')
const { model, software } = values
const finding = await checkGpu({ ...(model === undefined ? {} : { model }), tokens, lanes, software })
process.exitCode = finding === 'different' ? 1 : 0

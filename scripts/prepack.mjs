// Prepares a checkout for `npm pack`: set-up, build, and an inference engine without what few users need. The package contains
// node-llama-cpp, because npm would otherwise install its builds for GPUs on every machine: 640 MB on Linux. The builds for CPUs are
// optional dependencies of our package; `prove-node setup` installs those for a GPU.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setupOrExit } from './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const ENGINE = `${root}node_modules/node-llama-cpp`

/** Removes the list of all builds, and the source of llama.cpp (34 MB), from which this project never builds. */
function trimEngine() {
  const path = `${ENGINE}/package.json`
  const { optionalDependencies, ...rest } = JSON.parse(readFileSync(path, 'utf8'))
  const { optionalDependencies: ours } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  // npm would install those of 32-bit ARM and RISC-V on every Linux, and no model of useful size runs there.
  const isLeftOut = (name) => /-(cuda|cuda-ext|vulkan|armv7l|riscv64)$/.test(name)
  const differs = Object.entries(optionalDependencies ?? {}).filter(
    ([name, version]) => !isLeftOut(name) && ours[name] !== version,
  )
  if (differs.length > 0)
    throw new Error(
      `optionalDependencies of package.json lack ${differs.map((one) => one.join('@')).join(', ')} of node-llama-cpp`,
    )
  writeFileSync(path, `${JSON.stringify(rest, null, 2)}\n`)
  rmSync(`${ENGINE}/llama/gitRelease.bundle`, { force: true })
}

await setupOrExit({ python: false })
trimEngine()

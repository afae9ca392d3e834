// Runs the main path under other versions of Node.js. The npm packages of the project `node` contain its programs.
import { existsSync } from 'node:fs'
import { root, runGroup } from '../processes.mjs'
import { failure, uvuFiles } from './jobs.mjs'

/** Every even major version from the oldest supported one on. The newest is the last. */
export const MAJORS = [20, 22, 24, 26]
const INSTALL_LIMIT_MS = 10 * 60_000

/** Pure functions, databases and codecs: one process. */
const UNIT = [
  'unit/reward/values',
  'unit/reward/vectors',
  'unit/proto/envelope',
  'unit/proto/messages',
  'unit/episode/replay',
  'unit/episode/tool-call-formats',
  'unit/verification/verify-group-body',
  'unit/node/store',
]
/** The native parts (node-llama-cpp, level), libp2p, and a run with a coordinator, its trainer and a volunteer: one process each. */
const PROGRAMS = ['proc/engine', 'swarm/logs-on-disk', 'swarm/mesh', 'proc/stranger']

/** Installs the newest release of a major version into the cache and returns the path of its program. */
async function install(major) {
  const folder = `${root}.cache/node-${major}`
  const name = `node-${process.platform}-${process.arch}`
  const node = `${folder}/node_modules/${name}/bin/node`
  const flags = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder]
  const { ok, output } = await runGroup('npm', ['install', ...flags, `${name}@${major}`], { limitMs: INSTALL_LIMIT_MS })
  if (!ok || !existsSync(node)) throw new Error(`npm could not install ${name}@${major}: ${output.trim()}`)
  return node
}

/** Runs the tests under the newest release of one major version. */
export async function testUnder(major) {
  const label = `node-versions/${major} `
  let node
  try {
    node = await install(major)
  } catch (error) {
    return [failure(label.trim(), error.message)]
  }
  const compiled = (name) => `dist/test/${name}.test.js`
  const results = await uvuFiles(UNIT.map(compiled), { node, label })
  for (const name of PROGRAMS) results.push(...(await uvuFiles([compiled(name)], { node, label })))
  return results
}

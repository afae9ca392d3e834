import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import '../../../swarm/polyfill.js'
import { installCommand } from '../../../node/commands/setup.js'
import { gpuPackages } from '../../../rollout/engine/index.js'

test('each interface has its packages, on the platforms that have builds', () => {
  const linux = { platform: 'linux', arch: 'x64' } as const
  assert.equal(gpuPackages('cuda', linux), ['@node-llama-cpp/linux-x64-cuda', '@node-llama-cpp/linux-x64-cuda-ext'])
  assert.equal(gpuPackages('vulkan', { platform: 'win32', arch: 'x64' }), ['@node-llama-cpp/win-x64-vulkan'])
  assert.equal(gpuPackages('vulkan', { ...linux, arch: 'arm64' }), [])
  assert.equal(gpuPackages('cuda', { platform: 'darwin', arch: 'arm64' }), [])
})

test('npm installs the builds next to a global package, into a project, and not into a checkout', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-builds-'))
  try {
    const write = (...path: string[]): string => {
      const root = join(folder, ...path)
      mkdirSync(root, { recursive: true })
      writeFileSync(join(root, 'package.json'), '{"dependencies":{"node-llama-cpp":"1.2.3"}}')
      return `${root}/`
    }
    const global = installCommand(['a'], write('usr', 'lib', 'node_modules', 'prove-swarm'))
    assert.equal(global.slice(0, 4), ['install', '--global', '--prefix', join(folder, 'usr')])
    assert.is(global.at(-1), 'a@1.2.3')
    write('project')
    const local = installCommand(['a'], write('project', 'node_modules', 'prove-swarm'))
    assert.equal(local.slice(0, 4), ['install', '--no-save', '--prefix', join(folder, 'project')])
    assert.throws(() => installCommand(['a'], write('checkout')), /npm run setup -- --gpu/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()

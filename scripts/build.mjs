// Builds dist/ from the TypeScript packages: protobuf code and WebAssembly first, then tsc, then the playground's page.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => `${root}node_modules/.bin/${name}`
const schema = `${root}proto/swarm.proto`
const generated = `${root}proto/gen/swarm.js`
const wasmText = `${root}rollout/engine/candidates.wat`
const wasm = `${root}rollout/engine/candidates.wasm`

const isCurrent = (made, source) => existsSync(made) && statSync(made).mtimeMs >= statSync(source).mtimeMs

/** Generates the protobuf codec when it is missing or older than its schema. */
export function generateProto() {
  if (!existsSync(schema)) return
  if (isCurrent(generated, schema)) return
  mkdirSync(`${root}proto/gen`, { recursive: true })
  const flags = [
    '-t',
    'static-module',
    '-w',
    'esm',
    '--no-verify',
    '--no-delimited',
    '--no-convert',
    '--no-typeurl',
    '--no-service',
  ]
  execFileSync(bin('pbjs'), [...flags, '-d', '-o', generated, schema], { stdio: 'inherit', cwd: root })
}

/** Compiles the engine's WebAssembly next to its text, where sources that run without a build find it. */
function compileWasm() {
  if (isCurrent(wasm, wasmText)) return
  execFileSync(bin('wat2wasm'), [wasmText, '-o', wasm], { stdio: 'inherit', cwd: root })
}

/** Removes what was built from removed sources: a removed environment or test would otherwise still be found. */
function removeStale() {
  if (!existsSync(`${root}dist/servers`)) return
  for (const file of readdirSync(`${root}dist`, { recursive: true })) {
    if (!file.endsWith('.js') || file.startsWith('proto/gen') || file.startsWith('playground/')) continue
    if (!existsSync(`${root}${file.slice(0, -3)}.ts`)) rmSync(`${root}dist/${file}`)
  }
  for (const environment of readdirSync(`${root}dist/servers`, { withFileTypes: true })) {
    if (environment.isDirectory() && !existsSync(`${root}servers/${environment.name}`))
      rmSync(`${root}dist/servers/${environment.name}`, { recursive: true })
  }
}

export function build() {
  generateProto()
  compileWasm()
  removeStale()
  // First: tsc writes files even after an error, and those files must not run with the codec of another schema.
  if (existsSync(generated)) cpSync(generated, `${root}dist/proto/gen/swarm.js`, { recursive: true })
  cpSync(wasm, `${root}dist/rollout/engine/candidates.wasm`)
  execFileSync(bin('tsc'), ['-p', root], { stdio: 'inherit', cwd: root })
  execFileSync(process.execPath, [`${root}scripts/build-playground.mjs`], { stdio: 'inherit', cwd: root })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build()

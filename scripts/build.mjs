// Builds dist/ from the TypeScript rooms: protobuf code first, then tsc.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => `${root}node_modules/.bin/${name}`
const schema = `${root}proto/swarm.proto`
const generated = `${root}proto/gen/swarm.js`

/** Generates the protobuf codec when it is missing or older than its schema. */
export function generateProto() {
  if (!existsSync(schema)) return
  if (existsSync(generated) && statSync(generated).mtimeMs >= statSync(schema).mtimeMs) return
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

export function build() {
  generateProto()
  execFileSync(bin('tsc'), ['-p', root], { stdio: 'inherit', cwd: root })
  if (existsSync(generated)) cpSync(generated, `${root}dist/proto/gen/swarm.js`, { recursive: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build()

// Lints all Python of the repository by the settings in coordinator/trainer/pyproject.toml and checks its format. Prints
// file:line:column for each finding and exits with 1 when there is any. Usage: node scripts/lint-python.mjs
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs'

const root = fileURLToPath(new URL('..', import.meta.url))
const SETTINGS = 'coordinator/trainer/pyproject.toml'
const FOLDERS = [
  'coordinator/trainer',
  'prove-worlds/space',
  'prove-worlds/src',
  'prove-worlds/tests',
  'scripts',
  'test',
]
/** The demo model's scripts use other quotation marks than ruff's formatter: their format is not checked. */
const UNFORMATTED = 'scripts/'

/** Reads TOML, which Node.js cannot. Python can from version 3.11 on; before, pytest installs tomli. */
const READ_TOML = `
import json, sys
try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib
with open(sys.argv[1], "rb") as file:
    print(json.dumps(tomllib.load(file)["tool"]["ruff"]))
`
const settings = JSON.parse(
  execFileSync(join(root, '.venv', 'bin', 'python'), ['-c', READ_TOML, join(root, SETTINGS)], { encoding: 'utf8' }),
)
const ruff = new Workspace(settings, PositionEncoding.Utf32)

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.py'))
    .map((name) => join(folder, name)),
).sort()
// Without files there would be no findings either.
if (files.length === 0) throw new Error(`no Python in ${FOLDERS.join(', ')}`)

/** Returns a finding for the first line that the formatter would write differently. */
function misformatted(text) {
  const formatted = ruff.format(text).split('\n')
  const lines = text.split('\n')
  const row = lines.findIndex((line, i) => line !== formatted[i])
  if (row === -1 && lines.length === formatted.length) return []
  const at = { row: row === -1 ? lines.length : row + 1, column: 1 }
  return [{ code: 'format', message: `ruff writes: ${formatted[row] ?? 'the end'}`, at }]
}

let findings = 0
for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8')
  const found = ruff.check(text).map(({ code, message, start_location: at }) => ({ code, message, at }))
  if (!file.startsWith(UNFORMATTED)) found.push(...misformatted(text))
  for (const { code, message, at } of found)
    console.log(`${file}:${at.row}:${at.column} ${code ?? 'syntax'} ${message}`)
  findings += found.length
}
console.log(`ruff ${Workspace.version()}: ${findings} findings in ${files.length} files`)
process.exitCode = findings === 0 ? 0 : 1

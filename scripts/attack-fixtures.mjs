// Writes the playground's fixtures again, of the tasks that playground-tasks.mjs has chosen: an honest group and the forged groups of
// test/attackers. Needed after a change of environments or of the wire format. Usage: node scripts/attack-fixtures.mjs
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
build()
await import('../dist/swarm/polyfill.js')
const { openTokenizer } = await import('../dist/rollout/engine/index.js')
const { makeAttackGroups } = await import('../dist/test/attackers/attack-fixtures.js')
const tokenizer = await openTokenizer(`${root}models/demo/prove-demo-base-f16.gguf`)
try {
  const made = await makeAttackGroups(
    `${root}servers/episodes/playground/tasks.jsonl`,
    tokenizer,
    AbortSignal.timeout(60_000),
  )
  const lines = made.map((group) => `${JSON.stringify(group)}\n`)
  writeFileSync(`${root}servers/episodes/playground/attack-groups.jsonl`, lines.join(''))
} finally {
  await tokenizer.close()
}

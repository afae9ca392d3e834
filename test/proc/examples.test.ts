// needs: python

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

const run = async (...args: string[]): Promise<string> => {
  const { stdout } = await execa(process.execPath, args, { cwd: checkout, timeout: PATIENCE_MS, stdin: 'ignore' })
  return stdout
}

test('the swarm in one program publishes a version', async () => {
  assert.match(await run('examples/swarm.mjs'), /version 1 is published, from [1-9]\d* accepted groups$/)
})

test('the MCP client lists the tools and calls one', async () => {
  assert.match(await run('examples/mcp-client.mjs'), /^17 tools: [\s\S]*list_accounts[\s\S]*accounts: \[/)
})

test('the environment has at most 60 lines and passes all checks', async () => {
  const lines = readFileSync(join(checkout, 'examples', 'counters', 'index.js'), 'utf8')
    .trimEnd()
    .split('\n')
  assert.ok(lines.length <= 60, `${lines.length} lines`)
  assert.match(await run('bin/prove-server.cjs', 'check', './examples/counters'), /all \d+ checks passed/)
})

test('the scored rollouts have the full reward and none', async () => {
  assert.is(await run('examples/score.mjs'), 'reference calls: 1.3, no calls: 0')
})

/** The suite `counterparts` runs the programs of this document. */
test('the programs for TRL and verifiers are those of the document that the counterparts run', () => {
  const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
  for (const [name, ...documents] of [
    ['python/trl.py', 'prove-worlds/README.md', 'docs/start/trl.md'],
    ['python/verifiers.sh', 'prove-worlds/README.md'],
  ] as const) {
    const lines = read(`examples/${name}`).split('\n')
    const program = lines.slice(lines.findIndex((line) => /^(import |OPENAI_)/.test(line))).join('\n')
    for (const document of documents)
      assert.ok(read(document).includes(program), `examples/${name} differs from ${document}`)
  }
})

test.run()

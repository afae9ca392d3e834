// needs: python

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import '../../swarm/polyfill.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

/** The demo in small: every part of it works. `npm run nightly -- demo` runs it in full and checks what it has to reach. */

const test = suite('the demo')

const solved = z.object({
  n: z.int(),
  solvedBefore: z.number().min(0).max(1),
  solvedAfter: z.number().min(0).max(1),
  solvedDiffStderr: z.number().min(0),
  callsBefore: z.number().positive(),
  callsAfter: z.number().positive(),
  callsReference: z.number().positive(),
})
const summarySchema = z.object({
  environments: z.object({ new: z.string(), known: z.array(z.string()) }),
  greedy: solved,
  greedyKnown: solved,
  heldOut: solved.extend({ before: z.number(), after: z.number(), diff: z.number(), diffStderr: z.number() }),
  goalReached: z.boolean(),
  versions: z.literal(1),
  groups: z.object({ accepted: z.int().positive(), refused: z.literal(0) }),
})

test('two volunteers train a version, and the report compares it with the base in every respect', async () => {
  const demo = join(checkout, 'scripts', 'demo.mjs')
  const options = ['--built', '--versions', '1', '--nodes', '2', '--tasks', '60']
  const { stdout } = await execa(process.execPath, [demo, ...options], {
    ...{ timeout: 3 * PATIENCE_MS, stdin: 'ignore', forceKillAfterDelay: 20_000 },
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  const summary = summarySchema.parse(JSON.parse(await readFile(join(checkout, '.demo', 'summary.json'), 'utf8')))
  assert.equal([summary.greedy.n, summary.greedyKnown.n, summary.heldOut.n], [60, 20, 20])
  assert.ok(
    summary.greedyKnown.solvedBefore > summary.greedy.solvedBefore,
    'the base knows some environments better than the one that it is taught',
  )
  assert.match(stdout, /social_media, which the model hardly knew: 60 tasks at temperature 0/)
  assert.match(stdout, /banking, calendar, email, issue_tracker, iot_devices, which it knew: 20 tasks/)
  assert.match(stdout, /One held-out task that version 0 fails|No held-out task was failed before and solved after/)
  assert.match(stdout, /goal (reached|missed):/)
})

test.run()

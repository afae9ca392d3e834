// A swarm in one program: a coordinator and two volunteers train one version of the demo's model. Usage: node examples/swarm.mjs
// Needs the trainer's Python packages: npm run setup in a checkout, or prove-coordinator setup.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { demoModel, joinRun, readConfig, startRun } from 'prove-swarm/swarm'

const programs = join(dirname(createRequire(import.meta.url).resolve('prove-swarm/package.json')), 'bin')
const folder = mkdtempSync(join(tmpdir(), 'prove-example-'))
const listen = ['/ip4/127.0.0.1/tcp/0']

// 1. Tasks of an environment that the demo's model hardly knows: groups whose rollouts earn different rewards train it.
const wanted = ['--examples', '60', '--profile', 'demo', '--environments', 'social_media']
execFileSync(process.execPath, [join(programs, 'prove-lab.cjs'), 'synthesize', '--out', 'tasks', ...wanted], {
  cwd: folder,
})

// 2. The run: one version from two groups of four rollouts. Without a calibration nothing is audited.
const run = { dataDir: 'coordinator', listen, base: { path: demoModel, name: 'demo' }, tasks: { dataset: 'tasks' } }
const small = { groupSize: 4, batchGroups: 2, versions: 1, rounds: { registrationMs: 1000 } }
writeFileSync(join(folder, 'run.yaml'), JSON.stringify({ ...run, ...small }))

const opened = []
let accepted
try {
  const coordinator = await startRun(readConfig(join(folder, 'run.yaml')), { dryRun: false })
  opened.push(coordinator)
  console.log(`the run ${coordinator.runId} waits for volunteers`)

  // 3. Two volunteers.
  for (const name of ['ann', 'ben'])
    opened.push(
      await joinRun(coordinator.addresses[0], {
        ...{ dataDir: join(folder, name), model: demoModel, listen, limits: { gpu: 'none', slots: 4 } },
        onProgress: (progress) => {
          if (progress.type === 'verdict')
            console.log(`${name}: ${progress.verdict.accepted ? 'accepted' : 'rejected'}`)
        },
      }),
    )
  await coordinator.complete
  accepted = coordinator.state.accepted.size
} finally {
  for (const one of opened.reverse()) await one.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(`version 1 is published, from ${accepted} accepted groups`)

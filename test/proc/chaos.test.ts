// needs: python

import '../../swarm/polyfill.js'
import { copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openNodeStore } from '../../node/store/store.js'
import { machinesOf } from '../support/programs.js'
import { killAtRandom } from '../support/random-kills.js'
import { createCuttingProxy } from './cutting-proxy.js'
import {
  checkRun,
  ENDLESS,
  nextVersion,
  nobodyLeft,
  peerOf,
  readLog,
  settled,
  startRun,
  statedBy,
  stop,
  tells,
} from './runs.js'

/** More than a node says beside its groups in so short a run, less than a group of many rollouts has. */
const CUT_BYTES = 16_384

const machine = machinesOf(test)

test('a run in which every group is audited survives kills of all its processes at random instants', async () => {
  const on = await machine()
  const killed: string[] = []
  const events = await killAtRandom(on, {
    ...{ seed: 20_260_303, kills: 5, versions: 4 },
    onKill: (victim) => killed.push(victim),
  })
  assert.ok(killed.length === 5 && killed.includes('auditor'), `killed: ${killed}`)
  const audits = events.flatMap((event) => (event.type === 'judged' && !event.zeroVariance ? [event.audit] : []))
  assert.ok(audits.length >= 4)
  assert.equal(
    audits.filter((audit) => audit !== 'passed'),
    [],
  )
})

test('a node that is killed in the middle of an upload delivers the group when it is back, once', async () => {
  const on = await machine()
  const groupSize = 32
  const config = { groupSize, batchGroups: 4, versions: 1 }
  const run = await startRun(on, 'run', { config, slots: groupSize })
  const [, port] = /\/tcp\/(\d+)\//.exec(run.address)!
  const proxy = await createCuttingProxy(Number(port))
  try {
    const through = run.address.replace(`/tcp/${port}/`, `/tcp/${proxy.port}/`)
    let node = run.node('node', through)
    const lease = await run.coordinator.until('a lease', tells('leased'))
    const { leaseId } = lease.event as { leaseId: string }
    await proxy.cutAfter(CUT_BYTES)
    node.kill('SIGKILL')
    await node.ended
    assert.equal(run.coordinator.lines.filter(tells('judged')), [])
    const store = await openNodeStore(join(on.folder, 'run', 'node', 'store'), run.runId)
    const [pending] = await store.pending()
    await store.close()
    if (!pending) throw new Error('the group is not on the disk of the node')
    assert.is(pending.leaseId, leaseId)
    assert.ok(pending.body.length > CUT_BYTES, `the body of ${pending.body.length} B was through already`)
    proxy.mend()
    node = run.node('node', through)
    const verdict = await run.coordinator.until('its verdict', tells('judged'))
    const { accepted, bodySha256, ...judged } = verdict.event as {
      accepted: boolean
      bodySha256: string
      leaseId: string
    }
    assert.equal([judged.leaseId, accepted, bodySha256], [leaseId, true, pending.bodySha256])
    await node.until('the verdict reaches it', ({ type }) => type === 'verdict')
    await stop(node, run.coordinator)
    const { events, state } = await readLog(run.dataDir)
    checkRun(events, state, statedBy(run.coordinator))
  } finally {
    await proxy.close()
  }
})

test('two nodes with one key are one node: their groups count once, and neither is taken for a liar', async () => {
  const on = await machine()
  const run = await startRun(on, 'run', { config: { versions: 2 } })
  const ann = run.node('ann')
  const peer = await peerOf(ann)
  mkdirSync(join(on.folder, 'run', 'twin'))
  copyFileSync(join(on.folder, 'run', 'ann', 'identity.key'), join(on.folder, 'run', 'twin', 'identity.key'))
  // The second one comes late: before it has done something the first must not be done with everything.
  ann.kill('SIGSTOP')
  const twin = run.node('twin')
  assert.is(await peerOf(twin), peer)
  await twin.until('work of its own', ({ type }) => type === 'group')
  ann.kill('SIGCONT')
  await run.coordinator.until('the end of the run', ({ type }) => type === 'complete')
  await Promise.all([ann, twin].map((node) => node.until('its rest', settled, node.lines.length)))
  await stop(ann, twin, run.coordinator)
  const { events, state } = await readLog(run.dataDir)
  checkRun(events, state, statedBy(run.coordinator))
  assert.equal([...state.nodes.keys()], [peer])
  assert.equal(
    events.filter((event) => event.type === 'judged' && !event.accepted),
    [],
  )
})

test('a coordinator whose log cannot grow stops with the reason, and later goes on from all that it told', async () => {
  const on = await machine()
  // A process that handles this signal is told when it exceeds a limit on its files, as on a full disk; others are ended.
  const through = ['env', "NODE_OPTIONS=--import=data:text/javascript,process.on('SIGXFSZ',()=>{})"]
  const config = { versions: ENDLESS, batchGroups: 6 }
  const run = await startRun(on, 'run', { config, through })
  const node = run.node('node')
  await run.coordinator.until('a verdict', tells('judged'))
  const log = join(run.dataDir, 'log')
  const [file] = readdirSync(log).filter((name) => name.endsWith('.log'))
  // Room for half of the next event, whatever it is. Bodies do not fit either: their groups just get no verdict.
  const limit = statSync(join(log, file!)).size + 100
  await execa('prlimit', ['--pid', String(run.coordinator.pid), `--fsize=${limit}`])
  assert.is(await run.coordinator.ended, 1)
  assert.match(run.coordinator.stderr, /unwritable: .*log/)
  const stated = statedBy(run.coordinator)
  const again = await run.again({ versions: nextVersion(stated) })
  await again.coordinator.until('the end of the run', ({ type }) => type === 'complete')
  await node.until('its rest', settled, node.lines.length)
  await stop(node, again.coordinator)
  await nobodyLeft(on)
  const { events, state } = await readLog(run.dataDir)
  checkRun(events, state, [...stated, ...statedBy(again.coordinator)])
  assert.equal([...state.openLeases.keys()], [])
})

test.run()

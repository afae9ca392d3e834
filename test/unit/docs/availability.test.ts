import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PROTOCOLS, topicsOf } from '../../../proto/index.js'
import { ATTACKS } from '../../attackers/attack-suite.js'
import { checkout } from '../../support/checkout.js'

/** Constructs that limit what peers share. A file that has one is a resource. */
const LIMITING = [
  ...['createRateLimit(', 'createInboundStreams(', 'createUploadBudget(', 'createSessionTable('],
  ...['createTurns(', 'limitConnections(', 'createAnnouncementFilter(', 'maxConnections:', 'pLimit('],
]
/** Files that define these constructs or use them for other things than peers. */
const NO_RESOURCE = new Map([
  ['swarm/rate-limit.ts', 'defines the limit'],
  ['coordinator/service/open-intake.ts', 'uses the turns of coordinator/intake/turns.ts'],
  ['coordinator/service/services.ts', 'uses the filter of swarm/channels.ts'],
  ['coordinator/versions/publisher.ts', 'one round at a time, of the coordinator itself'],
  ['node/session/session.ts', 'one order of the owner at a time'],
  ['node/volunteer/volunteer.ts', 'uses the filter of swarm/channels.ts'],
])
const PACKAGES = ['swarm', 'coordinator', 'node', 'common/control', 'common/http']
/** The attack suite has no attacker for HTTP sessions, which only programs of this machine open. */
const OWN_MACHINE = new Set(['common/http/session-table.ts'])

interface Row {
  readonly resource: string
  readonly cells: readonly string[]
  readonly attackers: readonly string[]
  readonly code: readonly string[]
}

const named = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

function rows(): Row[] {
  const page = readFileSync(join(checkout, 'docs', 'explain', 'availability.md'), 'utf8')
  const [, table] = page.split('| resource | bound |')
  return table!
    .split('\n\n')[0]!
    .split('\n')
    .slice(2)
    .map((line) => {
      const cells = line.split('|').slice(1, -1)
      return { resource: cells[0]!.trim(), cells, attackers: named(cells[6]!), code: named(cells[7]!) }
    })
}

function sources(folder: string): string[] {
  return readdirSync(join(checkout, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'trainer' ? [] : sources(path)
    return path.endsWith('.ts') ? [path] : []
  })
}

test('every stream protocol and every topic has a row', () => {
  const resources = rows().map(({ resource }) => resource)
  const streams = resources.find((name) => name.startsWith('streams of'))!
  assert.equal(named(streams).sort(), Object.keys(PROTOCOLS).sort())
  const gossip = resources.find((name) => name.startsWith('gossip of'))!
  assert.equal(named(gossip).sort(), Object.keys(topicsOf('run')).sort())
})

test('every file that limits what peers share is named by a row, and every named file exists', () => {
  const code = new Set(rows().flatMap((row) => row.code))
  for (const path of code) assert.ok(existsSync(join(checkout, path)), path)
  for (const path of PACKAGES.flatMap(sources)) {
    const text = readFileSync(join(checkout, path), 'utf8')
    const limiting = LIMITING.filter((construct) => text.includes(construct))
    if (limiting.length === 0 || NO_RESOURCE.has(path) || OWN_MACHINE.has(path)) continue
    assert.ok(code.has(path), `${path} has ${limiting.join(' ')} and no row in docs/explain/availability.md`)
  }
})

test('every row is complete and has an attacker of the suite', () => {
  const known = new Set(ATTACKS.map(({ name }) => name))
  assert.ok(rows().length >= 17)
  for (const { resource, cells, attackers } of rows()) {
    assert.is(cells.length, 8, resource)
    for (const cell of cells) assert.ok(cell.trim() !== '', resource)
    assert.ok(attackers.length > 0, `${resource}: no attacker`)
    for (const name of attackers) assert.ok(known.has(name), `${resource}: ${name} is not in the attack suite`)
  }
})

test.run()

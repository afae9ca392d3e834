import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { diagrams } from '../../pictures/diagrams.js'
import { readRecording } from '../../pictures/recording.js'
import { checkout } from '../../support/checkout.js'

const folder = join(checkout, 'docs', 'pictures')
const names = readdirSync(folder)

test('the diagrams are what npm run pictures draws', () => {
  const drawn = diagrams()
  for (const [name, svg] of drawn)
    assert.ok(readFileSync(join(folder, name), 'utf8') === svg, `${name} is out of date: npm run pictures`)
  const known = [
    ...drawn.keys(),
    'demo.txt',
    ...['overview', 'training', 'group'].map((page) => `dashboard-${page}.png`),
  ]
  assert.equal([...names].sort(), [...known, 'playground.png'].sort())
})

test('a picture of a screen has at most 150 kB, the animation 500 kB, and all of them 1.5 MB', () => {
  const sizes = new Map(names.map((name) => [name, statSync(join(folder, name)).size]))
  for (const [name, size] of sizes) assert.ok(size <= (name.endsWith('.png') ? 150_000 : 500_000), `${name}: ${size}`)
  assert.ok([...sizes.values()].reduce((sum, size) => sum + size, 0) <= 1_500_000)
})

test('a recording without the report of the demo is no recording', () => {
  assert.throws(() => readRecording('version   0 published'), /npm run demo/)
})

test.run()

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { describeMetrics, ownMetrics } from '../../../coordinator/service/describe-metrics.js'
import { checkout } from '../../support/checkout.js'

const read = (name: string): string => readFileSync(join(checkout, 'docs', name), 'utf8')

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}

test('docs/reference/metrics.md is what npm run docs writes', async () => {
  assert.is(read('reference/metrics.md'), await describeMetrics())
})

test('every metric says its meaning and has a name of the project', async () => {
  for (const { name, help } of await ownMetrics().getMetricsAsJSON()) {
    assert.match(name, /^prove_[a-z_]+$/)
    assert.ok(help.length > 10, name)
  }
})

test('the Grafana dashboard asks for metrics and labels that there are, and for nothing else', async () => {
  const metrics = ownMetrics()
  const known = new Map(
    (await metrics.getMetricsAsJSON()).map(({ name }) => {
      const { labelNames } = metrics.getSingleMetric(name) as unknown as { labelNames: readonly string[] }
      return [name, labelNames]
    }),
  )
  const { panels } = JSON.parse(read('operate/grafana-dashboard.json')) as { panels: Panel[] }
  const asked = new Set<string>()
  for (const { title, targets } of panels) {
    assert.ok(targets.length > 0, title)
    for (const { expr } of targets) {
      const names = [...expr.matchAll(/\b([a-z0-9]+_[a-z0-9_]+)\b(?=\{)/g)].map(([, name]) =>
        name!.replace(/_bucket$/, ''),
      )
      assert.ok(names.length > 0, `${title}: ${expr}`)
      for (const name of names) {
        assert.ok(known.has(name), `${title} asks for ${name}`)
        asked.add(name)
        const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '))
        const unknown = labels.filter((label) => label !== 'le' && !known.get(name)!.includes(label))
        assert.equal(unknown, [], `${title}: labels of ${name}`)
      }
    }
  }
  assert.ok(asked.size >= 15)
})

test.run()

import { createMetrics, type Metrics } from '../../swarm/index.js'
import { meterChecks } from '../intake/metrics.js'
import { meterTrainer } from '../jobs/metrics.js'
import { meterAnswers } from '../leases/metrics.js'
import { meterLosses, meterRun } from '../ledger/metrics.js'
import { RunReducer } from '../ledger/run-reducer.js'
import { LiveReport } from '../report/live-report.js'
import { meterReport } from '../report/metrics.js'

/** A registry with every number of a coordinator that is the project's own, of a run in which nothing has happened. */
export function ownMetrics(): Metrics {
  const metrics = createMetrics()
  meterRun(metrics, { state: new RunReducer(), listen: () => () => undefined })
  meterReport(metrics, new LiveReport())
  for (const meter of [meterLosses, meterChecks, meterAnswers, meterTrainer]) meter(metrics)
  return metrics
}

const HEAD = `# Metrics

Written by \`npm run docs\` from the files \`metrics.ts\` of the coordinator. Prometheus finds them at \`/metrics\` of the dashboard
([operating.md](operating.md)), together with those of libp2p (\`libp2p_…\`) and of the process (\`process_…\`, \`nodejs_…\`);
\`prove-coordinator metrics\` prints them all. [grafana-dashboard.json](grafana-dashboard.json) shows them. A ratio lies between 0 and 1.

| metric | kind | labels | meaning |
| --- | --- | --- | --- |
`

/** docs/metrics.md */
export async function describeMetrics(): Promise<string> {
  const metrics = ownMetrics()
  const rows = (await metrics.getMetricsAsJSON())
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, help, type }) => {
      const { labelNames } = metrics.getSingleMetric(name) as unknown as { labelNames: readonly string[] }
      const labels = labelNames.map((label) => `\`${label}\``).join(', ') || '-'
      return `| \`${name}\` | ${type} | ${labels} | ${help} |\n`
    })
  return HEAD + rows.join('')
}

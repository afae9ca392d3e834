import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { Registry } from 'prom-client'

/**
 * The metrics registry of a program. Each package defines its metrics in a file `metrics.ts` of its folder. The names of metrics
 * begin with `prove_` and end in the unit, and each metric has a line of help (prometheus.io/docs/practices/naming).
 */
export type Metrics = Registry

/** Creates the registry, once for each program: metric names must be unique in it. */
export const createMetrics = (): Metrics => new Registry()

/** Creates libp2p's own metrics and those of the process. */
export const networkMetrics = (registry: Metrics): ReturnType<typeof prometheusMetrics> =>
  prometheusMetrics({ registry, preserveExistingMetrics: true })

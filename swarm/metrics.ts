import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { Registry } from 'prom-client'

/**
 * The registry that a program hands to its parts. Each part defines its own numbers in a file `metrics.ts` of its folder,
 * named `prove_…` with the unit at the end and a line of help (prometheus.io/docs/practices/naming).
 */
export type Metrics = Registry

/** One for each program: two parts of one name would clash in it. */
export const createMetrics = (): Metrics => new Registry()

/** libp2p's own numbers, and those of the process. */
export const networkMetrics = (registry: Metrics): ReturnType<typeof prometheusMetrics> =>
  prometheusMetrics({ registry, preserveExistingMetrics: true })

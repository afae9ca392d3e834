/** A number that the simulation takes from elsewhere. */
export interface Measure {
  readonly value: number
  readonly unit: string
  /** Where it was measured; what begins with "assumed" was not. */
  readonly source: string
}

const row = (value: number, unit: string, source: string): Measure => ({ value, unit, source })

/** Everything that a simulation models instead of running it. */
export const MEASURED = {
  replayMs: row(
    5.3,
    'ms of CPU a group',
    'docs/reports/results.md, Judging: 4.7 to 5.9 ms for 8 rollouts of 1,531 tokens',
  ),
  auditMs: row(760, 'ms a group', 'docs/reports/results.md, Judging: 12 groups in 9.1 s, demo model, two CPU cores'),
  bodyBytes: row(
    171_000,
    'B a group',
    '8 rollouts of 1,531 tokens at the 14 B a token of proto/limits.ts, groupBodyBytes',
  ),
  gossipFrameBytes: row(
    240,
    'B a message',
    'gossipsub around the payload: topic 90, author 40, number 10, signature 66, framing, and its share of IHAVE',
  ),
  groupS: row(240, 's a group', 'given: groups of four minutes on average'),
  adapterBytes: row(100e6, 'B', 'given: an adapter of 100 MB'),
  differenceShare: row(0.27, 'of the adapter', 'docs/reports/2026-11-flat.md: SmolLM2-135M, learning rate 1e-4'),
  uplinkBps: row(20e6, 'bit/s', 'given: 20 Mbit/s up'),
  attackers: row(0.1, 'share of keys', 'given: a tenth, of several kinds'),
  downlinkBps: row(100e6, 'bit/s', 'assumed: the usual line with 20 Mbit/s up'),
  coordinatorBps: row(1e9, 'bit/s', 'assumed: a rented machine'),
  dialable: row(0.5, 'share of nodes', 'assumed: half of the home routers let others in, by UPnP or IPv6'),
  delayMs: row(40, 'ms one way', 'assumed: mean over continents, spread from 10 to 70'),
  onlineS: row(7200, 's a stay', 'assumed: two hours on average, exponential'),
  abrupt: row(0.3, 'share of leaves', 'assumed: closed lids and cut lines; the others end in order'),
  newcomers: row(0.2, 'share of arrivals', 'assumed: keys that the run has never seen'),
  stepS: row(45, 's a training step', 'assumed: a batch is trained in half of the time in which the next one comes in'),
  speedSpread: row(
    0.35,
    'sigma of ln(s a group)',
    'assumed: between machines; the slowest in a hundred take 2.3 times as long',
  ),
  lengthSpread: row(0.2, 'sigma of ln(s a group)', 'assumed: between the groups of one machine'),
} as const satisfies Record<string, Measure>

import type { SampleContext } from '../kernel/define-server.js'
import type { SeededRandom } from '../kernel/random.js'
import type { TableView } from '../kernel/table.js'
import { unready } from './rules.js'
import type { Device, IotTables, Kind } from './schema.js'

/** What samplers of this world draw from. */
type Draw = SampleContext<IotTables, object>

/** The row that `bound` names if it fits, or one that fits at random; nothing when there is none. */
export function choose<R>(
  table: TableView<R>,
  random: SeededRandom,
  bound: string | undefined,
  fits: (row: R) => boolean = () => true,
): R | undefined {
  if (bound !== undefined) {
    const row = table.get(bound)
    return row !== undefined && fits(row) ? row : undefined
  }
  const rows = table.list(fits)
  return rows.length > 0 ? random.pick(rows) : undefined
}

/** A device of the kind that could do something now and fits, the bound one if there is one. */
export const chooseReady = (
  draw: Draw,
  kind: Kind,
  bound: string | undefined,
  fits: (device: Device) => boolean = () => true,
): Device | undefined =>
  choose(
    draw.db.devices,
    draw.random,
    bound,
    (device) => device.kind === kind && !unready(draw, device) && fits(device),
  )

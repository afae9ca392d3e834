import { choose } from '../kernel/choose.js'
import type { SampleContext } from '../kernel/define-environment.js'
import { unready } from './rules.js'
import type { Device, IotTables, Kind } from './schema.js'

/** What samplers of this environment draw from. */
type Draw = SampleContext<IotTables, object>

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

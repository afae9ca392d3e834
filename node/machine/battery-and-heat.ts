import { battery, cpuTemperature } from 'systeminformation'
import { type Delivered, known, unknown } from '../limits/work-limit.js'

/** Whether the machine is on mains power; one without a battery is. */
export async function readMains(): Promise<Delivered<boolean>> {
  const { hasBattery, acConnected } = await battery()
  if (!hasBattery) return known(true)
  return typeof acConnected === 'boolean' ? known(acConnected) : unknown('the system does not tell of its power supply')
}

/** Of the processor, °C. */
export async function readProcessorHeat(): Promise<Delivered<number>> {
  const { main, max } = await cpuTemperature()
  const hottest = max ?? main
  return typeof hottest === 'number' && hottest > 0 ? known(hottest) : unknown('the system tells no temperature')
}

import { battery, cpuTemperature } from 'systeminformation'
import { known, type SensorReading, unknown } from './sensor-reading.js'

/** Reads whether the machine is on mains power. A machine without a battery is. */
export async function readMains(): Promise<SensorReading<boolean>> {
  const { hasBattery, acConnected } = await battery()
  if (!hasBattery) return known(true)
  return typeof acConnected === 'boolean' ? known(acConnected) : unknown('the system does not report its power supply')
}

/** Reads the temperature of the processor (°C). */
export async function readProcessorHeat(): Promise<SensorReading<number>> {
  const { main, max } = await cpuTemperature()
  const hottest = max ?? main
  return typeof hottest === 'number' && hottest > 0 ? known(hottest) : unknown('the system reports no temperature')
}

import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { vehicleInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedVehicle } from './seed.js'
import { bodyTools } from './tools/body.js'
import { cabinTools } from './tools/cabin.js'
import { drivingTools } from './tools/driving.js'
import { journeyTools } from './tools/journeys.js'
import { upkeepTools } from './tools/upkeep.js'

/** One connected electric car: what can be done depends on engine, gear, brakes, doors, charge, faults and guard mode. */
export const vehicle = defineEnvironment({
  name: 'vehicle',
  title: 'Vehicle',
  description: 'One connected electric car with its drivers, destinations, trips, faults and playlists.',
  tables,
  entities: {
    driver: { noun: 'driver', table: 'drivers', label: 'name' },
    destination: { noun: 'destination', table: 'destinations', label: 'name', compared: { km: 'lowest' } },
    garage: { noun: 'garage', table: 'destinations', label: 'name' },
    fault: { noun: 'fault', table: 'faults', label: 'title' },
  },
  failures,
  lockout: { attempts: 3, wrong: 'wrong_pin', locked: 'pin_locked' },
  tools: [...drivingTools, ...bodyTools, ...cabinTools, ...journeyTools, ...upkeepTools],
  invariants: vehicleInvariants,
  domainRules,
  drives: true,
  seed: seedVehicle,
})

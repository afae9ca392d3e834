import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { NEAR_KM, roadKm } from '../map.js'
import { bookingObstacle, chargeObstacle, chargePercent, LIMITS, theCar } from '../rules.js'
import { pickAgreeing } from '../sampling.js'
import { CAR, type Fault, tool } from '../schema.js'

const switchCharging = tool({
  name: 'switch_charging',
  description:
    'Plug the charging cable in (on) or pull it out (off). The car must stand at a charger with its connector, in park, with the engine off. Pulling it out tells what was charged and what it costs.',
  input: z.strictObject({ charging: z.enum(['on', 'off']).describe('on plugs the cable in, off pulls it out.') }),
  output: z.object({
    charging: z.string(),
    name: z.string().describe('Where the car stands.'),
    charge: z.int().describe('Per cent.'),
    added_kwh: z.int().optional(),
    cost: z.int().optional(),
  }),
  annotations: { readOnly: false },
  establishes: ['cable_moved'],
  needs: ['engine_stopped'],
  sample({ db, random, bound }) {
    const charging = theCar(db).charging_since === null ? ('on' as const) : ('off' as const)
    return charging === 'on' && chargeObstacle(db) ? null : pickAgreeing(random, bound, [{ charging }])
  },
  run({ charging }, { unless, db, fail, now }) {
    const car = theCar(db)
    const { name, kilowatts, tariff } = db.destinations.get(car.location)!
    if (charging === 'on') {
      unless(chargeObstacle(db))
      db.cars.update(CAR, { charging_since: now() })
      return { charging, name, charge: chargePercent(car) }
    }
    if (car.charging_since === null || kilowatts === null) return fail('not_charging')
    const minutes = (Date.parse(now()) - Date.parse(car.charging_since)) / 60_000
    const added = Math.min(car.capacity - car.energy, Math.floor((kilowatts * 1000 * minutes) / 60))
    const charged = db.cars.update(CAR, {
      charging_since: null,
      energy: car.energy + added,
      charged: car.charged + added,
    })
    return {
      charging,
      name,
      charge: chargePercent(charged),
      added_kwh: Math.round(added / 1000),
      cost: Math.ceil((added * tariff) / 100_000),
    }
  },
})

const bookService = tool({
  name: 'book_service',
  description: `Book the repair of a fault at a garage that repairs its system, on a day from tomorrow to ${LIMITS.bookingDays} days ahead on which it is open and has time. The car can be at only one garage a day. Booking lifts the speed limit and the block of cruise control that a critical fault brings.`,
  input: z.strictObject({
    fault: ref('fault'),
    garage: ref('garage'),
    date: common('date', z.iso.date().describe('YYYY-MM-DD.')),
  }),
  output: z.object({
    title: z.string(),
    // Not a reference: nothing takes an appointment's key.
    appointment: z.string(),
    garage: z.string(),
    date: common('date', z.string()),
    status: z.string(),
  }),
  annotations: { readOnly: false },
  establishes: ['hold_lifted'],
  sample({ db, random, bound, today }) {
    const here = db.destinations.get(theCar(db).location)!
    const isOpen = ({ status }: Fault) => status === 'open'
    const garageRow = bound.garage === undefined ? undefined : db.destinations.get(bound.garage)
    if (garageRow && (garageRow.kind !== 'garage' || roadKm(here, garageRow) > NEAR_KM)) return null
    const fault = chooseByDraws(
      db.faults,
      random,
      bound.fault,
      (row) => isOpen(row) && (!garageRow || garageRow.logitErrors.includes(row.system)),
    )
    if (!fault) return null
    const garage =
      garageRow ??
      chooseByDraws(
        db.destinations,
        random,
        undefined,
        (row) => row.logitErrors.includes(fault.system) && roadKm(here, row) <= NEAR_KM,
      )
    if (!garage) return null
    const dates = bound.date === undefined ? datesAfter(today(), random.int(0, 6)) : [bound.date]
    const date = dates.find((day) => !bookingObstacle(db, today(), fault, garage, day))
    return date === undefined ? null : { fault: fault.fault, garage: garage.destination, date }
  },
  run({ fault, garage, date }, { rowOf, unless, db, nextId, today }) {
    const row = rowOf('faults', fault)
    const place = rowOf('destinations', garage)
    unless(bookingObstacle(db, today(), row, place, date))
    const { appointment } = db.appointments.insert({ appointment: nextId('service'), fault, garage, date })
    const { title, status } = db.faults.update(fault, { status: 'booked' })
    return { title, appointment, garage: place.name, date, status }
  },
})

/** Days from the first that a garage may offer, or a few later, onwards. */
const datesAfter = (today: string, skipped: number): string[] =>
  Array.from({ length: 24 }, (_, i) => addDays(today, 1 + skipped + i))

export const upkeepTools = [switchCharging, bookService]

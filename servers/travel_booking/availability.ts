import type { Booking, Hotel, TravelDb, TravelView } from './schema.js'
import { dayOf } from './time.js'
import { type Cabin, type Flight, flightCalled, hashOf, seatsOffered } from './timetable.js'

export function saltOf(db: TravelView): number {
  return db.timetable.get('spring-2026')!.salt
}

export function flightOf(db: TravelView, key: string): Flight | undefined {
  return flightCalled(saltOf(db), key)
}

/** Whether the airline has taken the flight out of the timetable. */
export function isCancelled(db: TravelView, key: string): boolean {
  return db.flights.get(key)?.status === 'cancelled'
}

/** The status of a booking at a time: a hold that has run out counts as lapsed although nothing has recorded it yet. */
export function statusAt(row: Booking, now: string): Booking['status'] {
  return row.status === 'held' && row.held_until! < now ? 'lapsed' : row.status
}

/** Returns whether the booking takes up a seat or a hotel room. */
export function isLive(row: Booking, now: string): boolean {
  const status = statusAt(row, now)
  return status === 'held' || status === 'confirmed'
}

/**
 * Records the holds that have run out. A tool that takes a seat or a hotel room calls this function first, so that the
 * records never show more of them than exist.
 */
export function lapseHolds(db: TravelDb, now: string): void {
  for (const row of db.bookings.by('status', 'held'))
    if (row.held_until! < now) db.bookings.update(row.booking, { status: 'lapsed' })
}

/** Seats of a cabin that can still be booked. */
export function seatsLeft(db: TravelView, flight: Flight, cabin: Cabin, now: string): number {
  let left = flight.free[cabin]
  for (const row of db.bookings.by('flight', flight.flight)) if (row.cabin === cabin && isLive(row, now)) left--
  return left
}

/**
 * Returns the seats of a cabin that no traveller has chosen. Where some travellers have not chosen yet, these are more
 * seats than can be booked.
 */
export function seatsToChoose(db: TravelView, flight: Flight, cabin: Cabin, now: string): string[] {
  const chosen = db.bookings.by('flight', flight.flight).filter((row) => row.seat !== null && isLive(row, now))
  const seats = seatsOffered(flight, cabin)
  return chosen.length === 0 ? seats : seats.filter((seat) => chosen.every((row) => row.seat !== seat))
}

/** Returns how many of a hotel's `rooms` others have taken for a night. */
export function roomsTaken(salt: number, { number, rooms }: Hotel, day: number): number {
  return hashOf(salt, 6, number, day) % (rooms + 1)
}

/** Whether the stay includes the night of a day. */
export function covers({ check_in, nights }: Booking, day: number): boolean {
  const first = check_in === null ? undefined : dayOf(check_in)
  return first !== undefined && day >= first && day < first + nights!
}

/** Returns how many of a hotel's `rooms` are free on every night of a stay. @param day number of the first night */
export function roomsLeft(db: TravelView, hotel: Hotel, day: number, nights: number, now: string): number {
  const salt = saltOf(db)
  const stays = db.bookings.by('hotel', hotel.hotel).filter((row) => isLive(row, now))
  let least = hotel.rooms
  for (let night = day; night < day + nights; night++) {
    const own = stays.reduce((sum, row) => sum + Number(covers(row, night)), 0)
    least = Math.min(least, hotel.rooms - roomsTaken(salt, hotel, night) - own)
  }
  return least
}

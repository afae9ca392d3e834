import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  start_engine: {
    goal: 'start the car',
    answer:
      'The engine is {engine} for {name}: seat position {seat}, {temperature} degrees, and at most {top_speed} km/h for now.',
    next: ['set_cabin_climate', 'play_playlist', 'start_navigation', 'set_headlights', 'move_window', 'shift_gear'],
    checks: ['check_vehicle'],
  },
  stop_engine: {
    goal: 'switch the engine off',
    answer: 'The engine is {engine}, and the battery holds {charge} percent[; the trip to {name} was {km} km].',
    next: ['operate_door', 'switch_charging'],
    checks: ['check_vehicle', 'search_trips'],
  },
  set_brake: {
    goal: 'switch a brake on or off',
    answer: 'The foot brake is {foot_brake} and the parking brake is {parking_brake} now.',
    next: ['start_engine', 'shift_gear', 'accelerate_to'],
    checks: [],
  },
  shift_gear: {
    goal: 'change gear',
    answer: 'The car is in {gear}.',
    next: ['accelerate_to', 'stop_engine'],
    checks: [],
  },
  accelerate_to: {
    goal: 'adjust my speed',
    answer: 'You are going {speed} km/h.',
    next: ['set_cruise_control'],
    checks: ['check_vehicle'],
  },
  set_cruise_control: {
    goal: 'use the cruise control',
    answer: 'The cruise control holds {speed} km/h now.',
    checks: ['check_vehicle'],
  },
  operate_door: {
    goal: 'open or lock a door of the car',
    answer: 'The {door} door is {open?open|closed} and {locked?locked|unlocked}.',
    next: ['start_engine'],
    checks: ['check_vehicle'],
    wishes: ['lock or unlock'],
  },
  move_window: {
    goal: 'adjust a car window',
    answer: 'The {window} window is {opening} percent open.',
    said: ['opening'],
    checks: [],
  },
  set_headlights: { goal: 'change the headlights', answer: 'The headlights are set to {beam}.', checks: [] },
  set_guard_mode: {
    goal: 'change the guard mode of the car',
    answer: 'The guard mode is {mode} now.',
    next: ['operate_door'],
    checks: [],
  },
  check_vehicle: {
    goal: 'check the car',
    answer: 'This is what the {model} shows: {readings}.[ Faults: {faults*{title} ({severity}, {status})}.]',
    said: ['system'],
  },
  list_drivers: {
    goal: 'see who may drive the car',
    answer: 'The car knows {found:driver}: {drivers*{name} (up to {top_speed} km/h, licence until {licence_until})}.',
  },
  set_cabin_climate: {
    goal: 'change the temperature in the car',
    answer: 'The {zone} zone is set to {temperature} degrees; outside it is {outside}.',
    next: ['play_playlist'],
    checks: [],
    wishes: ['set the heating'],
  },
  play_playlist: {
    goal: 'play some music',
    answer: '{title} is playing at volume {volume}; it has {songs:song}.',
    checks: [],
    wishes: ['play music'],
  },
  find_destination: {
    goal: 'find a destination',
    answer: 'I found {found:destination}[: {destinations*{name} in {city}, {km} km away[ ({offer})]}].',
    elsewhere: ['maps:list_place_categories'],
    wishes: ['find a place'],
  },
  save_destination: {
    goal: 'save a destination in the car',
    answer: '{name} in {city} is saved; it is {km} km away.',
    next: ['start_navigation'],
    checks: [],
    wishes: ['keep an address'],
  },
  start_navigation: {
    goal: 'start the navigation',
    answer: 'The way to {name}, {address}, is {km} km, and the battery is good for {range_left} km after that.',
    next: ['play_playlist'],
    checks: [],
    wishes: ['find the way'],
  },
  search_trips: {
    goal: 'see the trip log of the car',
    answer: 'There {found=is|are} {found:trip}[: {trips*{name} on {date}, {km} km}].',
  },
  switch_charging: {
    goal: 'sort out charging the car',
    answer:
      'The charging at {name} is {charging} now, with {charge} percent in the battery[; {added_kwh} kWh were added for {cost}].',
    next: ['start_engine'],
    checks: ['check_vehicle'],
  },
  book_service: {
    goal: 'book a repair',
    answer: 'The repair of "{title}" at {garage} is {status} for {date}.',
    checks: ['check_vehicle'],
  },
}

import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  start_engine: {
    clauses: [
      'get the car running for {driver}',
      'set the car up for {driver} and start it',
      'get the car ready to drive for {driver}',
      'switch the car on for {driver}',
      'fire up the car for {driver}',
      'power the car up for {driver}',
    ],
    goals: ['get the car started', 'get the car ready to drive', 'start the engine'],
  },
  stop_engine: {
    clauses: [
      'kill the engine[ and put the trip down as {purpose}]',
      'cut the engine[, the trip counts as {purpose}]',
      'power the car down[ and note a {purpose} trip]',
      'switch the car off[ and log this as a {purpose} trip]',
      'turn the car off[, with the trip in the log as {purpose}]',
    ],
    goals: ['end this drive', 'turn the engine off', 'shut the car off'],
  },
  set_brake: {
    clauses: [
      'go ahead and turn the {brake} brake {state}',
      "turn the car's {brake} brake {state}",
      "make sure the car's {brake} brake is {state}",
      'make sure the {brake} brake is {state} now',
      'get the car to turn the {brake} brake {state}',
    ],
    goals: [
      'do something with one of the brakes',
      'set or release one of the brakes',
      'engage or release one of the brakes',
    ],
  },
  shift_gear: {
    clauses: [
      'get the car into {gear}',
      'select {gear}',
      'have the car shift to {gear}',
      'change into {gear}',
      'switch to {gear}',
    ],
    goals: ['change to another gear', 'shift gears', 'change gears'],
  },
  accelerate_to: {
    clauses: [
      '(get|take) the car up to {speed} km/h',
      'go at {speed} km/h',
      'make it {speed} km/h',
      'have the car do {speed} km/h',
      'change our speed to {speed} km/h',
      'set the speed to {speed} km/h',
    ],
    goals: ['change how fast we go', 'drive at a different speed', 'go faster or slower'],
  },
  set_cruise_control: {
    clauses: [
      'put cruise control on at {speed} km/h',
      'set the cruise control for {speed} km/h',
      'hold {speed} km/h with cruise control',
      'have the car keep to {speed} km/h by itself',
      'start cruise control at {speed} km/h',
      'switch cruise control on and set it to {speed} km/h',
      'get cruise control going at {speed} km/h',
    ],
    goals: ['have the car hold a steady speed', 'drive with cruise control', 'set the cruise control'],
  },
  operate_door: {
    clauses: [
      '{action} the {door} door for me',
      '{action} the {door} door of the car',
      '{action} just the {door} door',
      'tell the car to {action} the {door} door',
      "remotely {action} the car's {door} door",
    ],
    goals: [
      'control one of the car doors',
      'operate a door of the car',
      'have a car door opened, closed, locked or unlocked',
    ],
  },
  move_window: {
    clauses: [
      'get the {window} window to {opening} percent open',
      'change the {window} window to {opening} percent open',
      'have the car set the {window} window to {opening} percent',
      'put the {window} window at {opening} percent',
      'adjust the {window} window to {opening} percent',
    ],
    goals: ['change how far a window is open', 'open or close a car window', 'adjust one of the car windows'],
  },
  set_headlights: {
    clauses: [
      'change the headlight setting to {beam}',
      'turn the headlights to {beam}',
      'set the front lights to {beam}',
      'select {beam} for the headlights',
      'switch the headlights over to {beam}',
    ],
    goals: ['change the car lights', 'adjust the headlights', 'change the headlight setting'],
  },
  set_guard_mode: {
    clauses: [
      "set the car's guard mode to {mode}, PIN {pin}",
      'switch the guard mode over to {mode}, using the PIN {pin}',
      'change the guard mode to {mode}, my PIN is {pin}',
      'select {mode} as the guard mode with my PIN {pin}',
      'use {pin} as the PIN and change the guard mode to {mode}',
    ],
    goals: [
      'put the car in a different guard mode',
      'switch the guard mode of the car',
      "set the car's guard mode with my PIN",
    ],
  },
  check_vehicle: {
    clauses: [
      "check how things are with the car's {system}",
      "get me a report on the car's {system}",
      "let me know if there is a fault in the car's {system}",
      "give me the status of the car's {system}",
      "run a check on the car's {system}",
      "tell me if there are any problems with the car's {system}",
    ],
    goals: ['know if something is wrong with the car', 'check the car for faults', 'see how the car is doing'],
  },
  list_drivers: {
    clauses: [
      '(find out|let me know) who can drive the car',
      '(pull|bring) up the drivers of our car',
      'give me the names of everyone who may drive the car',
      'list the registered drivers',
      'tell me who the drivers are',
      "get me a list of the car's drivers",
      'see which people are set up as drivers',
      'check who is allowed to drive the car',
    ],
    goals: ['know who can drive the car', 'see who the drivers are', 'find out who is set up as a driver'],
  },
  set_cabin_climate: {
    clauses: [
      'get the {zone} zone to {temperature} degrees',
      'change the {zone} zone to {temperature} degrees',
      'set the climate control to {temperature} degrees for the {zone} zone',
      'put the {zone} zone at {temperature} degrees',
      'run the climate at {temperature} degrees in the {zone} zone',
    ],
    goals: [
      'make it warmer or cooler in the car',
      'adjust the climate in the car',
      'make it more comfortable in the car',
    ],
  },
  play_playlist: {
    clauses: [
      'make the car play "{title}"[ at volume {volume}]',
      'let us hear "{title}"[ at volume {volume}]',
      'play "{title}" for us[ and set the volume to {volume}]',
      'play "{title}" on the car\'s speakers[ at volume {volume}]',
      'turn on the playlist "{title}"[, volume {volume}]',
      'get the playlist "{title}" going[ at volume {volume}]',
    ],
    goals: ['listen to something in the car', 'listen to a playlist', 'have some music on'],
  },
  find_destination: {
    clauses: [
      "(pull|bring) up {text} in the car's navigation[, just the {kind} results]",
      'let me see what the navigation has for {text}[ in the {kind} category]',
      'see what comes up for {text} in the navigation[, filtered by {kind}]',
      'check the navigation for {text}[, only the {kind} category]',
      'look in the navigation for {text}[ under the {kind} category]',
    ],
    goals: ['find a place to navigate to', 'look for a place in the navigation', 'see if a place is in the navigation'],
  },
  save_destination: {
    clauses: [
      '(enter|put) {address} in the car\'s navigation as "{name}"',
      'save {address} in the navigation and name it "{name}"',
      'add {address} to the car\'s destinations as "{name}"',
      'save a destination called "{name}" at {address}',
      'create the destination "{name}" with the address {address}',
    ],
    goals: ["add a new place to the car's navigation", 'save a place in the navigation', 'save an address in the car'],
  },
  start_navigation: {
    clauses: [
      'get us to {destination}[ and keep off {avoid}]',
      'find the way to {destination} and guide me there[, no {avoid}]',
      'put {destination} into the navigation and start it[, leaving out {avoid}]',
      'route me to {destination}[, around {avoid}]',
      'direct me to {destination}[ and stay away from {avoid}]',
      'have the car show me how to get to {destination}[ without {avoid}]',
    ],
    goals: ['be guided somewhere', 'get directions somewhere', 'have the car show me the way'],
  },
  search_trips: {
    clauses: [
      '(find out|tell me) how {driver} used the car in {month}[ for {purpose} trips]',
      '(pull|bring) up the trips that {driver} logged in {month}[ as {purpose}]',
      'let me see the trips by {driver} in {month}[, just the {purpose} ones]',
      'give me the trip log of {driver} for {month}[, limited to {purpose} trips]',
      'look up where {driver} went in {month}[, just {purpose} trips]',
    ],
    goals: ['know where somebody drove', "look back at the car's trips", 'check what the car was used for'],
  },
  switch_charging: {
    clauses: [
      "make sure the car's charging is {charging}",
      'set the charging to {charging}',
      'switch the charging of the car {charging}',
      'get the charging switched {charging}',
      'turn charging {charging}',
    ],
    goals: [
      'start or stop charging',
      'plug in or unplug the charging cable',
      'connect or disconnect the charging cable',
    ],
  },
  book_service: {
    clauses: [
      'book the car in at {garage} for {fault} on {date}',
      'get an appointment for {fault} at {garage} on {date}',
      'schedule the repair of {fault} with {garage} for {date}',
      'get {garage} to fix {fault} on {date}',
      'reserve {date} at {garage} for the repair of {fault}',
    ],
    goals: ['get something on the car fixed', 'have the car repaired at a garage', 'make an appointment with a garage'],
  },
}

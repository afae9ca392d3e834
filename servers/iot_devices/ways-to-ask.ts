import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  list_rooms: {
    clauses: [
      'give me an overview of our {floor} rooms',
      'let me know which {floor} rooms there are and what they are drawing',
      '(find out|see) how much power the {floor} rooms (use|are using)',
      'bring up all the {floor} rooms',
      'look up the {floor} rooms (in|of) the house',
      '(tell me|remind me) what {floor} rooms we have',
    ],
    goals: [
      '(know|find out) which rooms there are',
      'see how much power our rooms are drawing',
      'see a list of our rooms',
    ],
  },
  list_devices: {
    clauses: [
      '(let me see|bring up) the devices in {room}[, just the {kind}s]',
      '(check|see) what we have in {room}[ in the way of {kind}s]',
      'give me (a list|an overview) of what is in {room}[, limited to {kind}s]',
      'tell me which of our devices are in {room}[, {kind}s only]',
      '(find out|tell me) what devices {room} has[, just the {kind}s]',
    ],
    goals: [
      '(know|find out) what is installed in a room',
      'get a list of the devices in one of our rooms',
      'check what devices we have in a room',
    ],
  },
  find_device: {
    clauses: [
      '(locate|track down) the {name} in our home',
      '(pull up|bring up) the {name}',
      'see how the {name} is doing',
      'get me the details of the {name}',
      'look for the {name} around the house',
      'check whether the {name} is (working|all right)',
      'see where the {name} is',
    ],
    goals: ['(locate|find) one of our devices', 'see how one of our devices is doing', 'check on one of our devices'],
  },
  find_faulty_devices: {
    clauses: [
      'see whether (anything|any device) has {fault} trouble',
      '(tell me|let me know) which devices need attention because of their {fault}',
      'check all our devices for {fault} problems',
      'find out if something at home has a {fault} problem',
      '(show me|bring up) everything with a {fault} issue',
      'search the house for devices with {fault} trouble',
      'tell me which of our devices have {fault} issues',
    ],
    goals: [
      '(know|find out) which devices have a problem',
      'check our devices for problems',
      'see which devices need attention',
    ],
  },
  reconnect_device: {
    clauses: [
      'hook {device} back up to the network',
      'make {device} reachable again',
      'get {device} back onto the wifi',
      'connect {device} to our network again',
      'make sure that {device} is back online',
      'get {device} to join the network again',
      'fix the connection on {device}',
    ],
    goals: [
      "fix a device's connection",
      'bring a device back online',
      'reconnect something that has dropped off the network',
    ],
  },
  replace_battery: {
    clauses: [
      'note that {device} got a new battery',
      'let the system know that the battery in {device} is new',
      'mark the battery of {device} as (changed|replaced)',
      'keep a record of the new battery in {device}',
      'register that I put a new battery into {device}',
      'put down that {device} has a new battery in it',
      'make a note that the battery of {device} was swapped',
      'update the battery record for {device}, I put in a new battery',
    ],
    goals: ['(log|record) a new battery', 'log that I changed a battery', 'let the system know about a new battery'],
  },
  update_firmware: {
    clauses: [
      'put the (newest|latest) firmware on {device}',
      'upgrade the firmware (on|of) {device}',
      'get the firmware on {device} updated',
      'run a firmware update (on|for) {device}',
      'make sure {device} (runs|has) the latest firmware',
    ],
    goals: ['get new firmware onto a device', 'bring a device up to date', 'update one of our devices'],
  },
  set_light: {
    clauses: [
      'turn {light} to {brightness} percent',
      'turn the brightness of {light} to {brightness} percent',
      'change the brightness of {light} to {brightness} percent',
      'make sure {light} is at {brightness} percent',
      'put {light} on {brightness} percent',
    ],
    goals: ['change how bright it is', 'make a light brighter or darker', 'set the brightness of a light'],
  },
  set_thermostat: {
    clauses: [
      'make it {degrees} degrees on {thermostat}',
      'put {thermostat} at {degrees} degrees',
      'adjust {thermostat} to {degrees} degrees',
      'change the target temperature on {thermostat} to {degrees} degrees',
      'get {thermostat} to {degrees} degrees',
      'have {thermostat} keep it at {degrees} degrees',
    ],
    goals: [
      '(change|adjust) the heating in one of the rooms',
      'make it warmer or cooler',
      'set one of the thermostats',
    ],
  },
  move_cover: {
    clauses: [
      'adjust {cover} to {position} percent open',
      'get {cover} to {position} percent open',
      'move {cover} to {position} percent open',
      'make sure {cover} is {position} percent open',
      'set the position of {cover} to {position} percent open',
    ],
    goals: ['open or close one of the blinds', 'adjust one of the blinds', 'move one of the blinds'],
  },
  lock_door: {
    clauses: [
      'secure {lock}',
      'get {lock} locked',
      'go ahead and lock {lock}',
      'make sure {lock} gets locked',
      'lock {lock} right away',
    ],
    goals: ['secure one of the doors', 'get a door locked', 'make sure a door is locked'],
  },
  unlock_door: {
    clauses: [
      'get {lock} unlocked with the PIN {pin}',
      'enter the PIN {pin} to unlock {lock}',
      'use {pin} as the PIN to unlock {lock}',
      'let me in through {lock}, the code is {pin}',
      'put in the PIN {pin} and unlock {lock}',
    ],
    goals: ['unlock a door for somebody', 'get a door unlocked', 'let somebody in'],
  },
  get_sensor_history: {
    clauses: [
      '(bring up|get me) the data from {sensor} for {date}',
      'let me know what {sensor} (reported|logged) on {date}',
      'go back to {date} and see what {sensor} measured',
      'have a look at what {sensor} recorded on {date}',
      'check (the readings|the log) of {sensor} for {date}',
    ],
    goals: [
      '(know|find out) what one of our sensors recorded',
      'look back at the readings of a sensor',
      'see the log of a sensor',
    ],
  },
  switch_camera: {
    clauses: [
      'make sure {camera} is {power} now',
      'get {camera} (turned|switched) {power}',
      'turn {camera} {power} for me',
      'go ahead and switch {camera} {power}',
      'turn {camera} {power} right away',
    ],
    goals: ['turn one of the cameras on or off', 'power a camera on or off', 'get a camera switched on or off'],
  },
  play_on_speaker: {
    clauses: [
      'make {speaker} play {station}[ at {volume} percent volume]',
      'play some {station} on {speaker}[, with the volume at {volume} percent]',
      'use {speaker} to play {station}[ at a volume of {volume} percent]',
      'stream {station} to {speaker}[ at {volume} percent]',
      'put the {station} station on {speaker}[, at {volume} percent volume]',
      'switch {speaker} to {station}[ and set it to {volume} percent]',
    ],
    goals: ['listen to the radio', 'listen to something at home', 'get something playing on one of the speakers'],
  },
  start_appliance: {
    clauses: [
      'have {appliance} run the {program} program',
      'get {appliance} (going|started) on {program}',
      'start the {program} program on {appliance}',
      'put {appliance} on, using the {program} program',
      'set {appliance} running on {program}',
      'turn {appliance} on in {program} mode',
    ],
    goals: ['(switch|turn) on one of the appliances', 'get an appliance running', 'get something washed or dried'],
  },
  stop_appliance: {
    clauses: [
      'stop whatever {appliance} is doing',
      'make {appliance} stop',
      'make sure {appliance} is off',
      'power {appliance} down',
      'end the program on {appliance}',
    ],
    goals: [
      '(turn|switch) off one of the appliances',
      'stop an appliance that is running',
      'shut down one of the appliances',
    ],
  },
  set_child_lock: {
    clauses: [
      'set the child lock of {appliance} to {child_lock}',
      'make sure that the child lock on {appliance} is {child_lock}',
      'turn {child_lock} the child lock of {appliance}',
      'get the child lock on {appliance} (turned|switched) {child_lock}',
      'turn {child_lock} the child lock in the settings of {appliance}',
    ],
    goals: [
      'turn a child lock on or off',
      'change the child lock setting on an appliance',
      'activate or deactivate a child lock',
    ],
  },
  set_home_mode: {
    clauses: [
      'get the house into {mode} mode[, with the PIN {pin}]',
      'change the house to {mode} mode[, {pin} is the PIN]',
      '(turn on|activate) {mode} mode for the house[ with PIN {pin}]',
      'switch the home over to {mode} mode[ with my PIN {pin}]',
      'tell the house to go into {mode} mode[, with {pin} as the PIN]',
    ],
    goals: [
      'put the house into another mode',
      'tell the house whether we are home or away',
      'switch the house to a different mode',
    ],
  },
  list_scenes: {
    clauses: [
      '(find out|let me know) what scenes we can use in {room}',
      'bring up the scenes for {room}',
      'get me the scenes that belong to {room}',
      'give me the scenes we set up for {room}',
      'check what scenes there are in {room}',
      'tell me which scenes are stored for {room}',
      'look through the scenes for {room}',
    ],
    goals: ['(know|find out) which scenes we have in a room', 'look through our scenes', 'check what scenes there are'],
  },
  save_scene: {
    clauses: [
      'store the current setup of {room} as the scene "{name}"',
      'turn the current state of {room} into a scene called "{name}"',
      'remember how {room} is set right now, as a scene called "{name}"',
      'make a new scene called "{name}" from the current state of {room}',
      'add a scene called "{name}" with {room} just the way it is now',
    ],
    goals: ['save how a room is set up', "make a scene from a room's settings", 'save the settings of a room'],
  },
  run_scene: {
    clauses: ['(turn on|switch on) {scene}', 'use {scene}', 'apply {scene}', 'change to {scene}', 'trigger {scene}'],
    goals: ['use one of our scenes', 'set a room the way I saved it', 'put on a scene'],
  },
  list_automations: {
    clauses: [
      '(find out|let me know) which automations there are for {trigger}',
      '(bring up|get me) the automations for {trigger}',
      'tell me which automations are set for {trigger}',
      '(see|tell me) what the house does at {trigger}',
      'list what is set to run at {trigger}',
      'tell me what our {trigger} automations do',
    ],
    goals: ['(know|find out) what the house does by itself', 'look through our automations', 'check what is automated'],
  },
  create_automation: {
    clauses: [
      'set up a {trigger} automation for {scene}',
      'add {scene} to (the|our) {trigger} automations',
      'make a {trigger} automation that turns {scene} on',
      'run {scene} automatically from now on, triggered by {trigger}',
      'make an automation for {scene}, with {trigger} as the trigger',
      'set {scene} to run automatically on a {trigger} trigger',
    ],
    goals: ['have a scene come on by itself', 'have a scene run automatically', 'make something happen automatically'],
  },
  switch_automation: {
    clauses: [
      'make sure the automation {automation} is {status}',
      'get the automation {automation} (turned|switched) {status}',
      'turn the automation {automation} {status} for me',
      'go ahead and switch the automation {automation} {status}',
      'turn the automation {automation} {status} right away',
    ],
    goals: [
      'turn one of our automations on or off',
      'enable or disable an automation',
      'switch one of our automations on or off',
    ],
  },
}

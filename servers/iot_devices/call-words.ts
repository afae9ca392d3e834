import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_rooms: {
    goal: 'see which rooms we have in the house',
    answer: 'There {rooms=is|are} {rooms#room}: {rooms*{name} ({load} of {limit} watts)}. The house is in {mode} mode.',
  },
  list_devices: {
    goal: 'see which devices are in one of the rooms',
    answer: 'I found {found:device}[: {devices*{name} ({status})}].',
    said: ['room'],
  },
  find_device: {
    goal: 'look for one of our devices',
    answer: 'I found {found:device}[: {devices*{name} ({status}[, battery {battery} percent])}].',
  },
  find_faulty_devices: {
    goal: 'find devices with a problem',
    answer:
      '{found:device} {found=has|have} that problem[: {devices*{name} ({status}[, battery at {battery} percent])}]. You have {spare_batteries:spare battery}.',
    said: ['fault'],
  },
  reconnect_device: {
    goal: 'get a device back online',
    answer: '{name} is back online.',
    next: [
      'update_firmware',
      'set_light',
      'set_thermostat',
      'move_cover',
      'lock_door',
      'switch_camera',
      'play_on_speaker',
      'start_appliance',
    ],
    checks: ['get_sensor_history'],
  },
  replace_battery: {
    goal: 'log a battery change',
    answer:
      '{name} has a fresh battery at {battery} percent; {spare_batteries:spare battery} {spare_batteries=is|are} left.',
    next: ['reconnect_device', 'update_firmware'],
    checks: ['find_faulty_devices'],
  },
  update_firmware: {
    goal: 'update the firmware of a device',
    answer: '{name} is being updated to firmware {firmware} and is busy until {busy_until}.',
    checks: ['find_faulty_devices'],
  },
  set_light: {
    goal: 'adjust one of the lights',
    answer: '{name} is at {brightness} percent now; the room draws {room_load} watts.',
    next: ['save_scene'],
    checks: [],
  },
  set_thermostat: {
    goal: 'change the temperature in one of the rooms',
    answer: '{name} is set to {degrees} degrees.',
    checks: [],
    wishes: ['set the heating'],
  },
  move_cover: {
    goal: 'adjust one of the blinds or roof windows',
    answer: '{name} is {position} percent open now.',
    next: ['save_scene', 'set_thermostat'],
    checks: [],
  },
  lock_door: {
    goal: 'lock one of the doors',
    answer: '{name} is {status}.',
    next: ['set_home_mode'],
    checks: [],
    wishes: ['lock or unlock'],
  },
  unlock_door: {
    goal: 'unlock one of the doors',
    answer: '{name} is {status}.',
    checks: [],
    wishes: ['lock or unlock'],
  },
  get_sensor_history: {
    goal: 'check what one of the sensors measured',
    answer: 'On {date} {name} measured between {lowest} and {highest} {unit}, {average} on average.',
  },
  switch_camera: { goal: 'switch one of the cameras on or off', answer: '{name} is {status}.', checks: [] },
  play_on_speaker: {
    goal: 'play something on one of the speakers',
    answer: '{name} plays {station} at {volume} percent.',
    checks: [],
    wishes: ['play music'],
  },
  start_appliance: {
    goal: 'start one of the appliances',
    answer: '{name} is running ({status}) and draws {watts} watts; the room is at {room_load} of {room_limit} watts.',
    next: ['set_child_lock'],
    checks: [],
  },
  stop_appliance: {
    goal: 'stop one of the appliances',
    answer: '{name} is {status}; the room draws {room_load} watts now.',
    next: ['update_firmware', 'set_child_lock', 'set_home_mode'],
    checks: [],
  },
  set_child_lock: {
    goal: 'switch a child lock on or off',
    answer: 'The child lock of {name} is {child_lock}.',
    next: ['start_appliance'],
    checks: [],
  },
  set_home_mode: {
    goal: 'change the mode of the home',
    answer: 'The house is in {mode} mode now: {devices_changed:device} changed and {automations_run:automation} ran.',
    next: ['unlock_door', 'switch_camera', 'play_on_speaker'],
    checks: ['list_rooms'],
  },
  list_scenes: {
    goal: 'see which scenes there are for a room',
    answer: 'There {found=is|are} {found:scene}[: {scenes*{name} with {devices:device}}].',
    said: ['room'],
  },
  save_scene: {
    goal: 'save how a room is set as a scene',
    answer: 'I saved the scene {name}, which sets {devices:device}.',
    next: ['create_automation'],
    checks: [],
  },
  run_scene: {
    goal: 'switch on a scene',
    answer: '{name} is on: {devices_changed:device} changed, and the room draws {room_load} watts.',
    next: ['create_automation'],
    checks: ['list_devices'],
  },
  list_automations: {
    goal: 'see which automations there are',
    answer: 'There {found=is|are} {found:automation}[: {automations*{name} ({status})}].',
    said: ['trigger'],
  },
  create_automation: {
    goal: 'automate a scene',
    answer: 'The automation {name} is {status}.',
    checks: ['list_automations'],
  },
  switch_automation: {
    goal: 'turn an automation on or off',
    answer: '{name} is {status}.',
    next: ['create_automation'],
    checks: ['list_automations'],
  },
}

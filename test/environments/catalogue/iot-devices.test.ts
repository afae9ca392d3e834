import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { iotDevices } from '../../../servers/iot_devices/index.js'
import { armingObstacle } from '../../../servers/iot_devices/modes.js'
import { isOpenWindow, modeOf } from '../../../servers/iot_devices/rules.js'
import { disagree } from '../../../servers/iot_devices/scenes.js'
import { type Device, HOME, type IotView, LIMITS, type Scene } from '../../../servers/iot_devices/schema.js'
import { dependencyGraph } from '../../../servers/kernel/dependency-graph.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { type Call, fails, succeed } from '../../support/session-calls.js'

const houseOf = (session: Session) => session.db as unknown as IotView
const device = (session: Session, fits: (row: Device) => boolean): Device => {
  const found = houseOf(session).devices.find(fits)
  if (!found) throw new Error('no such device in this seed')
  return found
}
const works =
  (kind: Device['kind'], fits: (row: Device) => boolean = () => true) =>
  (row: Device) =>
    row.kind === kind && row.online && fits(row)

/** A session of the first seed whose house fits. */
function openWhere(fits: (session: Session) => boolean): Session {
  for (let seed = 1; seed < 200; seed++) {
    const session = Session.open(generateSeedState(iotDevices, seed))
    if (fits(session)) return session
  }
  throw new Error('no seed fits')
}

const startsIn = (mode: string) => (session: Session) => modeOf(houseOf(session)) === mode
const has = (fits: (row: Device) => boolean) => (session: Session) => houseOf(session).devices.find(fits) !== undefined
const isWeakLock = ({ battery }: Device) => battery! < LIMITS.lockBattery
/** A house in home mode that nothing but what can be shut, locked and stopped keeps from being left. */
const canArm = (session: Session) =>
  startsIn('home')(session) &&
  !has((row) => isOpenWindow(row) && !row.online)(session) &&
  !has((row) => row.kind === 'lock' && row.outside && (!row.online || isWeakLock(row)))(session)

/** Shuts, locks and stops what stands against away mode. */
function secure(session: Session): void {
  const { devices } = houseOf(session)
  for (const { device: cover } of devices.list(isOpenWindow)) succeed(session, 'move_cover', { cover, position: 0 })
  for (const { device: lock } of devices.list(({ state, outside }) => outside && state === 'unlocked'))
    succeed(session, 'lock_door', { lock })
  for (const { device: appliance } of devices.list(({ hot, state }) => hot && state === 'on'))
    succeed(session, 'stop_appliance', { appliance })
}

function arm(session: Session): void {
  secure(session)
  succeed(session, 'set_home_mode', { mode: 'away' })
}

const isRain = ({ type, level, online }: Device) => type === 'rain' && online && level > 0
const isStartable = works('appliance', ({ state, child_lock }) => state === 'off' && !child_lock)
const isOutdated = (row: Device) =>
  row.online && row.firmware !== row.latest && (row.battery === null || row.battery >= LIMITS.firmwareBattery)
const start = ({ device: appliance }: Device, program = 'eco'): Call => ['start_appliance', { appliance, program }]
const update = ({ device: key }: Device): Call => ['update_firmware', { device: key }]
const replace = ({ device: key }: Device): Call => ['replace_battery', { device: key }]
const light = ({ device: key }: Device, brightness: number): Call => ['set_light', { light: key, brightness }]
const open = ({ device: cover }: Device, position = 40): Call => ['move_cover', { cover, position }]
const automate = ({ scene }: Scene, trigger = 'sunrise'): Call => ['create_automation', { scene, trigger }]

/** Two scenes of one room that set something differently and have no automations at sunrise. */
function rivals(session: Session): [Scene, Scene] | undefined {
  const { scenes, automations } = houseOf(session)
  const rooms = new Set(automations.by('trigger', 'sunrise').map(({ scene }) => scenes.get(scene)!.room))
  const free = scenes.list(({ room }) => !rooms.has(room))
  return free.flatMap((a) => free.filter((b) => disagree(a, b)).map((b): [Scene, Scene] => [a, b]))[0]
}

/** Has something of everything that failures are provoked with. */
const isRich = (session: Session) =>
  canArm(session) &&
  has(isRain)(session) &&
  has((row) => isOpenWindow(row) && row.online)(session) &&
  has(works('lock', ({ state }) => state === 'ajar'))(session) &&
  has((row) => row.battery !== null && row.battery < 20 && row.online && row.firmware !== row.latest)(session) &&
  has((row) => isStartable(row) && isOutdated(row))(session) &&
  rivals(session) !== undefined

checkEnvironmentContract(iotDevices, {
  sampleFloor: 1,
  provokeSeed: openWhere(isRich).seedState.seed,
  provoke: {
    unknown_room: () => ['list_scenes', { room: 'ballroom' }],
    unknown_device: () => ['set_light', { light: 'moon', brightness: 50 }],
    unknown_scene: () => ['run_scene', { scene: 'apocalypse' }],
    unknown_automation: () => ['switch_automation', { automation: 'noon-7', status: 'off' }],
    wrong_kind: (s) => light(device(s, works('lock')), 50),
    device_offline: (s) => update(device(s, ({ online }) => !online)),
    device_busy: (s) => {
      const lamp = device(s, (row) => works('light')(row) && isOutdated(row))
      succeed(s, ...update(lamp))
      return light(lamp, 100)
    },
    device_in_use: (s) => {
      const outdated = device(s, (row) => isStartable(row) && isOutdated(row))
      succeed(s, ...start(outdated))
      return update(outdated)
    },
    already_online: (s) => ['reconnect_device', { device: device(s, ({ online }) => online).device }],
    battery_empty: (s) => ['reconnect_device', { device: device(s, ({ battery }) => battery === 0).device }],
    battery_low: (s) =>
      update(device(s, (row) => row.battery !== null && row.battery < 20 && row.online && row.firmware !== row.latest)),
    battery_still_good: (s) => replace(device(s, ({ battery }) => battery !== null && battery >= LIMITS.goodBattery)),
    mains_powered: (s) => replace(device(s, ({ battery }) => battery === null)),
    no_spare_batteries: (s) => {
      const weak = () => device(s, ({ battery }) => battery !== null && battery < 20)
      while (houseOf(s).home.get(HOME)!.spare_batteries > 0) succeed(s, ...replace(weak()))
      return replace(weak())
    },
    firmware_current: (s) => update(device(s, (row) => row.online && row.firmware === row.latest)),
    not_dimmable: (s) =>
      light(
        device(
          s,
          works('light', ({ low, high }) => low === high),
        ),
        50,
      ),
    circuit_overloaded: (s) => {
      for (const row of houseOf(s).devices.list((one) => isStartable(one) && one.room === 'kitchen')) {
        const result = s.fork().call(...start(row, 'intense'))
        if (!result.ok) return start(row, 'intense')
        succeed(s, ...start(row, 'intense'))
      }
      throw new Error('the kitchen carries everything')
    },
    out_of_range: (s) => {
      const row = device(s, works('thermostat'))
      return ['set_thermostat', { thermostat: row.device, degrees: row.high + 1 }]
    },
    window_open: (s) => {
      for (const { device: lock } of houseOf(s).devices.list((row) => row.outside && row.state === 'unlocked'))
        succeed(s, 'lock_door', { lock })
      return ['set_home_mode', { mode: 'away' }]
    },
    raining: (s) =>
      open(
        device(
          s,
          works('cover', ({ type, level }) => type === 'window' && level < 90),
        ),
        100,
      ),
    mode_forbids: (s) => {
      arm(s)
      const row = device(
        s,
        works('lock', ({ outside }) => outside),
      )
      return ['unlock_door', { lock: row.device, pin: row.pin }]
    },
    camera_private: (s) => {
      const row = device(
        s,
        works('camera', ({ outside }) => !outside),
      )
      return ['switch_camera', { camera: row.device, power: 'on' }]
    },
    door_ajar: (s) => [
      'lock_door',
      {
        lock: device(
          s,
          works('lock', ({ state }) => state === 'ajar'),
        ).device,
      },
    ],
    door_unlocked: (s) => {
      secure(s)
      const row = device(
        s,
        works('lock', ({ outside, state }) => outside && state === 'locked'),
      )
      succeed(s, 'unlock_door', { lock: row.device, pin: row.pin })
      return ['set_home_mode', { mode: 'away' }]
    },
    wrong_pin: (s) => {
      const row = device(
        s,
        works('lock', ({ state }) => state === 'locked'),
      )
      return ['unlock_door', { lock: row.device, pin: row.pin === '1234' ? '4321' : '1234' }]
    },
    pin_locked: (s) => {
      const row = device(
        s,
        works('lock', ({ state }) => state === 'locked'),
      )
      for (let i = 0; i < 3; i++) s.call('unlock_door', { lock: row.device, pin: row.pin === '1234' ? '4321' : '1234' })
      return ['unlock_door', { lock: row.device, pin: row.pin }]
    },
    pin_required: (s) => {
      arm(s)
      return ['set_home_mode', { mode: 'home' }]
    },
    no_history: (s) => ['get_sensor_history', { sensor: device(s, works('sensor')).device, date: '2026-03-02' }],
    quiet_hours: (s) => {
      succeed(s, 'set_home_mode', { mode: 'night' })
      const speaker = device(s, works('speaker')).device
      return ['play_on_speaker', { speaker, station: 'jazz', volume: LIMITS.nightVolume + 1 }]
    },
    child_locked: (s) =>
      start(
        device(
          s,
          works('appliance', (row) => row.child_lock && row.state === 'off'),
        ),
      ),
    already_running: (s) => {
      const row = device(s, isStartable)
      succeed(s, ...start(row))
      return start(row)
    },
    not_running: (s) => ['stop_appliance', { appliance: device(s, isStartable).device }],
    hot_appliance_running: (s) => {
      secure(s)
      succeed(s, ...start(device(s, (row) => isStartable(row) && row.hot)))
      return ['set_home_mode', { mode: 'away' }]
    },
    already_in_mode: () => ['set_home_mode', { mode: 'home' }],
    scene_exists: (s) => [
      'save_scene',
      {
        room: 'kitchen',
        name: houseOf(s)
          .scenes.find(() => true)!
          .name.toUpperCase(),
      },
    ],
    nothing_to_save: (s) => {
      const settable = (room: string) =>
        houseOf(s)
          .devices.by('room', room)
          .some((row) => row.kind === 'light')
      return ['save_scene', { room: houseOf(s).rooms.find(({ room }) => !settable(room))!.room, name: 'Nothing' }]
    },
    automation_exists: (s) => {
      const { scene, trigger } = houseOf(s).automations.find(() => true)!
      return ['create_automation', { scene, trigger }]
    },
    automation_conflict: (s) => {
      const [one, other] = rivals(s)!
      succeed(s, ...automate(one))
      return automate(other)
    },
  },
})

test('arming switches the house off, lowers the heating, and only the PIN of the home ends it', () => {
  const session = openWhere(canArm)
  arm(session)
  const { devices, home } = houseOf(session)
  assert.is(armingObstacle(houseOf(session)), undefined)
  assert.is(devices.find(works('speaker', ({ state }) => state === 'on')), undefined)
  assert.is(devices.find(works('camera', ({ state }) => state === 'off')), undefined)
  assert.is(devices.find(works('thermostat', ({ level }) => level > LIMITS.awayDegrees)), undefined)
  fails(session, 'pin_required', 'set_home_mode', { mode: 'home' })
  fails(session, 'wrong_pin', 'set_home_mode', { mode: 'home', pin: '0000' })
  succeed(session, 'set_home_mode', { mode: 'home', pin: home.get(HOME)!.pin })
  assert.is(devices.find(works('camera', ({ state, outside }) => state === 'on' && !outside)), undefined)
})

test('a hot appliance cannot be started in away mode, a quiet one can', () => {
  const session = openWhere(
    (s) => canArm(s) && has((row) => isStartable(row) && row.hot)(s) && has((row) => isStartable(row) && !row.hot)(s),
  )
  arm(session)
  fails(session, 'mode_forbids', ...start(device(session, (row) => isStartable(row) && row.hot)))
  succeed(session, ...start(device(session, (row) => isStartable(row) && !row.hot)))
})

test('an open window stops the heating of its room until it is shut', () => {
  const heated = (s: Session) => (row: Device) =>
    works('cover', ({ type }) => type === 'window')(row) &&
    has((other) => other.room === row.room && works('thermostat')(other))(s)
  const session = openWhere((s) => startsIn('home')(s) && !has(isRain)(s) && has(heated(s))(s))
  const window = device(session, heated(session))
  const thermostat = device(session, (row) => row.room === window.room && works('thermostat')(row))
  assert.is(succeed(session, ...open(window)).heating, 'lowered')
  assert.is(houseOf(session).devices.get(thermostat.device)!.level, thermostat.low)
  const warmer: Call = ['set_thermostat', { thermostat: thermostat.device, degrees: thermostat.high }]
  fails(session, 'window_open', ...warmer)
  succeed(session, ...open(window, 0))
  assert.is(succeed(session, ...warmer).degrees, thermostat.high)
})

test('a firmware update switches a lamp off and keeps it busy for five writes', () => {
  const session = openWhere(has((row) => works('light', ({ state }) => state === 'on')(row) && isOutdated(row)))
  const lamp = device(session, (row) => works('light', ({ state }) => state === 'on')(row) && isOutdated(row))
  const before = houseOf(session).rooms.get(lamp.room)!.load
  assert.is(succeed(session, ...update(lamp)).firmware, lamp.latest)
  assert.is(houseOf(session).rooms.get(lamp.room)!.load, before - lamp.load)
  const other = device(session, (row) => works('light')(row) && row.device !== lamp.device && row.watts < 60)
  for (let minute = 0; minute < LIMITS.updateMinutes - 1; minute++) {
    fails(session, 'device_busy', ...light(lamp, 100))
    succeed(session, ...light(other, 0))
  }
  succeed(session, ...light(lamp, 100))
})

test('a scene sets all of its devices or, when one of them is offline, none', () => {
  const broken = (s: Session) => (scene: Scene) =>
    scene.settings.length > 1 && scene.settings.some((setting) => !houseOf(s).devices.get(setting.device)!.online)
  const session = openWhere((s) => startsIn('home')(s) && houseOf(s).scenes.find(broken(s)) !== undefined)
  const scene = houseOf(session).scenes.find(broken(session))!
  fails(session, 'device_offline', 'run_scene', { scene: scene.scene })
  for (const { device: key } of scene.settings) {
    const { online, battery } = houseOf(session).devices.get(key)!
    if (battery === 0) succeed(session, 'replace_battery', { device: key })
    if (!online) succeed(session, 'reconnect_device', { device: key })
  }
  for (const row of houseOf(session).devices.list((one) => one.room === scene.room && isOpenWindow(one)))
    succeed(session, ...open(row, 0))
  succeed(session, 'run_scene', { scene: scene.scene })
  for (const { device: key, level } of scene.settings) assert.is(houseOf(session).devices.get(key)!.level, level)
  assert.is(succeed(session, 'run_scene', { scene: scene.scene }).devices_changed, 0)
})

test('an empty battery is replaced from the spares before the device comes back online', () => {
  const session = openWhere(has(({ battery, online }) => battery === 0 && !online))
  const { device: key } = device(session, ({ battery }) => battery === 0)
  const { spare_batteries } = houseOf(session).home.get(HOME)!
  fails(session, 'battery_empty', 'reconnect_device', { device: key })
  assert.is(succeed(session, 'replace_battery', { device: key }).spare_batteries, spare_batteries - 1)
  fails(session, 'battery_still_good', 'replace_battery', { device: key })
  succeed(session, 'reconnect_device', { device: key })
  assert.ok(houseOf(session).devices.get(key)!.online)
})

test('an automation can be switched on once the one that contradicts it is off', () => {
  const session = openWhere((s) => rivals(s) !== undefined)
  const [one, other] = rivals(session)!
  const { automation } = succeed(session, ...automate(one))
  fails(session, 'automation_conflict', ...automate(other))
  succeed(session, 'switch_automation', { automation, status: 'off' })
  succeed(session, ...automate(other))
  fails(session, 'automation_conflict', 'switch_automation', { automation, status: 'on' })
})

test('going to bed runs the automations for bedtime, locks the outer doors and leaves the rest of the night quiet', () => {
  const session = openWhere(
    (s) => startsIn('home')(s) && has(works('lock', (row) => row.outside && row.state === 'unlocked'))(s),
  )
  const { devices, automations } = houseOf(session)
  const bedtime = automations.list(({ trigger, status }) => trigger === 'bedtime' && status === 'on').length
  const stated = succeed(session, 'set_home_mode', { mode: 'night' })
  assert.is((stated.automations_run as number) + (stated.automations_skipped as number), bedtime)
  assert.is(
    devices.find(works('lock', (row) => row.outside && row.state === 'unlocked' && !isWeakLock(row))),
    undefined,
  )
  const speaker = device(session, works('speaker')).device
  succeed(session, 'play_on_speaker', { speaker, station: 'ambient', volume: LIMITS.nightVolume })
  const window = devices.find(works('cover', ({ type }) => type === 'window'))
  if (window) fails(session, 'mode_forbids', ...open(window))
})

test('stopping an appliance makes room on the circuit for another', () => {
  const session = openWhere((s) => startsIn('home')(s) && has((row) => isStartable(row) && row.type === 'dryer')(s))
  const dryer = device(session, ({ type }) => type === 'dryer')
  const washer = device(session, ({ type }) => type === 'washer')
  if (washer.state === 'on') succeed(session, 'stop_appliance', { appliance: washer.device })
  const others = houseOf(session).devices.list(
    (row) => row.room === dryer.room && row.state === 'on' && row.load > 1000,
  )
  for (const { device: appliance } of others) succeed(session, 'stop_appliance', { appliance })
  succeed(session, ...start(dryer, 'intense'))
  if (washer.child_lock) succeed(session, 'set_child_lock', { appliance: washer.device, child_lock: 'off' })
  fails(session, 'circuit_overloaded', ...start(washer, 'normal'))
  succeed(session, 'stop_appliance', { appliance: dryer.device })
  assert.is(succeed(session, ...start(washer, 'normal')).watts, washer.watts)
})

test('the full name of a device finds exactly one, and its key stands under its kind', () => {
  const session = openWhere(() => true)
  let single = 0
  const rows = houseOf(session).devices.list()
  for (const { name, kind, device: key } of rows) {
    const { found, devices } = succeed(session, 'find_device', { name: name.toLowerCase() })
    if (found === 1) single++
    const hits = devices as Record<string, unknown>[]
    if (found === 1) assert.is(hits[0]![kind], key)
  }
  assert.ok(single >= 0.95 * rows.length, `${single} of ${rows.length}`)
})

test('what is found in a room leads to the tools for its kind only', () => {
  const graph = dependencyGraph(iotDevices)
  const after = (tool: string) => new Set(graph.from(tool).map(({ to }) => to))
  assert.ok(after('list_devices').has('unlock_door'))
  assert.ok(after('reconnect_device').has('set_light'))
  assert.not.ok(after('unlock_door').has('set_light'))
  assert.not.ok(after('start_appliance').has('set_thermostat'))
})

test.run()

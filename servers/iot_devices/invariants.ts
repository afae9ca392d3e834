import type { Invariant } from '../kernel/define-environment.js'
import { armingObstacle } from './modes.js'
import { lightLoad, modeOf } from './rules.js'
import { disagree, isSettable } from './scenes.js'
import { type Device, HOME, type IotTables, LIMITS, PROGRAM_POWER, type Program } from './schema.js'

type IotInvariant = Invariant<IotTables>

const loadsAddUp: IotInvariant = {
  name: 'the load of a room is what its devices draw, and no circuit is overloaded',
  check({ rooms, devices }) {
    const wrong = rooms.find(
      ({ room, load, limit }) =>
        load > limit || load !== devices.list((row) => row.room === room).reduce((sum, row) => sum + row.load, 0),
    )
    return wrong && `${wrong.room}: ${wrong.load} of ${wrong.limit}`
  },
}

function draws({ kind, state, watts, program, level, ...device }: Device): number {
  if (state !== 'on') return 0
  if (kind === 'light') return lightLoad({ kind, state, watts, program, level, ...device }, level)
  return kind === 'appliance' ? (watts * PROGRAM_POWER[program as Program]) / 100 : 0
}

const devicesDrawWhatTheyDo: IotInvariant = {
  name: 'a device draws what it does, and nothing while it is off or offline',
  check({ devices }) {
    const wrong = devices.find((row) => row.load !== draws(row) || (!row.online && row.state === 'on'))
    return wrong && `${wrong.device} is ${wrong.state} and draws ${wrong.load}`
  },
}

const levelsAreInRange: IotInvariant = {
  name: 'thermostats keep to their range, other levels to 0 to 100, and a light that is off has no brightness',
  check({ devices }) {
    const wrong = devices.find(({ kind, state, level, low, high }) => {
      if (kind === 'thermostat') return level < low || level > high
      if (kind === 'light') return level > 100 || level > 0 !== (state === 'on') || (low === high && level % 100 !== 0)
      return (kind === 'cover' || kind === 'speaker') && (level < 0 || level > 100)
    })
    return wrong && `${wrong.device} is at ${wrong.level}`
  },
}

const awayIsSafe: IotInvariant = {
  name: 'in away mode every outer door is locked, every window shut, and nothing hot runs or plays',
  check(db) {
    if (modeOf(db) !== 'away') return undefined
    const playing = db.devices.find(({ kind, state }) => kind === 'speaker' && state === 'on')
    return playing ? `${playing.device} plays` : armingObstacle(db)?.detail
  },
}

const camerasRespectPrivacy: IotInvariant = {
  name: 'no indoor camera is on except in away mode',
  check(db) {
    if (modeOf(db) === 'away') return undefined
    return db.devices.find(({ kind, outside, state }) => kind === 'camera' && !outside && state === 'on')?.device
  },
}

const nightsAreQuiet: IotInvariant = {
  name: 'in night mode no speaker plays louder than allowed',
  check(db) {
    if (modeOf(db) !== 'night') return undefined
    return db.devices.find(
      ({ kind, state, level }) => kind === 'speaker' && state === 'on' && level > LIMITS.nightVolume,
    )?.device
  },
}

const batteriesAreCounted: IotInvariant = {
  name: 'every new battery came from the spares, and batteries change in no other way',
  check(now, seed) {
    const changed = now.devices.list((row) => row.battery !== seed.devices.get(row.device)!.battery)
    const odd = changed.find(({ battery }) => battery !== 100)
    if (odd) return `${odd.device} has ${odd.battery}`
    const used = seed.home.get(HOME)!.spare_batteries - now.home.get(HOME)!.spare_batteries
    return changed.length === used ? undefined : `${used} spares used for ${changed.length} devices`
  },
}

const hardwareStays: IotInvariant = {
  name: 'devices stay what and where they are, online once they are, and firmware only moves to the latest',
  check(now, seed) {
    const wrong = now.devices.find((row) => {
      const before = seed.devices.get(row.device)
      return (
        before === undefined ||
        before.kind !== row.kind ||
        before.room !== row.room ||
        before.pin !== row.pin ||
        (before.online && !row.online) ||
        (row.firmware !== before.firmware && row.firmware !== row.latest)
      )
    })
    if (wrong) return wrong.device
    return now.devices.count() === seed.devices.count() ? undefined : 'a device is gone'
  },
}

const scenesResolve: IotInvariant = {
  name: 'a scene sets lights, thermostats and blinds of its own room, and every automation has its scene',
  check({ scenes, devices, automations }) {
    const lost = automations.find(({ scene }) => !scenes.has(scene))
    if (lost) return `${lost.automation} runs ${lost.scene}`
    const fits = (room: string) => (setting: { device: string }) => {
      const device = devices.get(setting.device)
      return device !== undefined && device.room === room && isSettable(device)
    }
    return scenes.find(({ room, settings }) => settings.length === 0 || !settings.every(fits(room)))?.scene
  },
}

const automationsAgree: IotInvariant = {
  name: 'no two automations that are on set a device differently at the same trigger',
  check({ automations, scenes }) {
    const active = automations.list(({ status }) => status === 'on')
    for (const [i, a] of active.entries())
      for (const b of active.slice(i + 1))
        if (a.trigger === b.trigger && disagree(scenes.get(a.scene)!, scenes.get(b.scene)!))
          return `${a.automation} and ${b.automation}`
    return undefined
  },
}

export const iotInvariants = [
  loadsAddUp,
  devicesDrawWhatTheyDo,
  levelsAreInRange,
  awayIsSafe,
  camerasRespectPrivacy,
  nightsAreQuiet,
  batteriesAreCounted,
  hardwareStays,
  scenesResolve,
  automationsAgree,
]

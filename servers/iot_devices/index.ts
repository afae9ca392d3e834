import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { iotInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedIot } from './seed.js'
import { applianceTools } from './tools/appliances.js'
import { automationTools } from './tools/automations.js'
import { careTools } from './tools/care.js'
import { comfortTools } from './tools/comfort.js'
import { discoveryTools } from './tools/discovery.js'
import { lockTools } from './tools/locks.js'
import { modeTools } from './tools/mode.js'
import { sceneTools } from './tools/scenes.js'
import { watchingTools } from './tools/watching.js'

/** A smart home: modes that gate actions, circuits with a limit, devices that fail, scenes, and automations that must not contradict each other. */
export const iotDevices = defineEnvironment({
  name: 'iot_devices',
  title: 'Smart home',
  description: 'Rooms, lights, locks, heating, covers, sensors, cameras, speakers, appliances and scenes of one house.',
  tables,
  entities: {
    room: { noun: 'room', table: 'rooms', label: 'name', sayable: true, article: true },
    device: { noun: 'device', table: 'devices', label: 'name', article: true },
    light: { noun: 'light', table: 'devices', label: 'name', article: true },
    lock: { noun: 'door', table: 'devices', label: 'name', article: true },
    thermostat: { noun: 'thermostat', table: 'devices', label: 'name', article: true },
    cover: { noun: 'window cover', table: 'devices', label: 'name', article: true },
    sensor: { noun: 'sensor', table: 'devices', label: 'name', article: true },
    camera: { noun: 'camera', table: 'devices', label: 'name', article: true },
    speaker: { noun: 'speaker', table: 'devices', label: 'name', article: true },
    appliance: { noun: 'appliance', table: 'devices', label: 'name', article: true },
    scene: { noun: 'scene', table: 'scenes', label: 'name' },
    automation: { noun: 'automation', table: 'automations', label: 'name' },
  },
  failures,
  lockout: { attempts: 3, wrong: 'wrong_pin', locked: 'pin_locked' },
  tools: [
    ...discoveryTools,
    ...careTools,
    ...comfortTools,
    ...lockTools,
    ...watchingTools,
    ...applianceTools,
    ...modeTools,
    ...sceneTools,
    ...automationTools,
  ],
  invariants: iotInvariants,
  domainRules,
  seed: seedIot,
})

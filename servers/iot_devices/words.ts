import { type FLOORS, type Kind, LIMITS, TRIGGERS } from './schema.js'

type Trigger = (typeof TRIGGERS)[number]

interface RoomKind {
  readonly name: string
  readonly floor: (typeof FLOORS)[number]
  /** Circuit limit, watts. */
  readonly limit: number
}

const rooms = (floor: RoomKind['floor'], limit: number, names: string): RoomKind[] =>
  names.split(', ').map((name) => ({ name, floor, limit }))

/** Each `RoomKind` that every home has. The next lists contain the ones that a home may have, by floor. */
export const FIXED_ROOMS: readonly RoomKind[] = [
  ...rooms('ground_floor', 5200, 'Kitchen'),
  ...rooms('ground_floor', 2300, 'Hall'),
  ...rooms('cellar', 3600, 'Laundry'),
]
export const GROUND_ROOMS = rooms('ground_floor', 2300, 'Living Room, Dining Room, Study, Library, Sunroom, Music Room')
export const UPPER_ROOMS = rooms(
  'upper_floor',
  2300,
  'Main Bedroom, Guest Bedroom, Kids Bedroom, Nursery, Dressing Room, Gallery, Loft, Bathroom',
)
export const CELLAR_ROOMS = rooms('cellar', 2900, 'Workshop, Gym, Cinema, Wine Cellar, Hobby Room')
export const OUTSIDE_ROOMS = rooms('outdoor', 2300, 'Garage, Terrace, Garden, Porch, Carport, Balcony')

/** Type of a device, which is more specific than its kind. */
export interface DeviceType {
  readonly kind: Kind
  readonly type: string
  readonly label: string
  readonly low: number
  readonly high: number
  readonly watts: number
  readonly hot: boolean
  readonly noisy: boolean
}

const plain = { low: 0, high: 0, watts: 0, hot: false, noisy: false }

const light = (type: string, label: string, watts: number, dimmable = true): DeviceType => ({
  ...plain,
  kind: 'light',
  type,
  label,
  low: dimmable ? 0 : 100,
  high: 100,
  watts,
})

export const INDOOR_LIGHTS: readonly DeviceType[] = [
  light('ceiling', 'Ceiling Lamp', 60),
  light('lamp', 'Floor Lamp', 40),
  light('strip', 'LED Strip', 30),
  light('spots', 'Spotlights', 80),
  light('wall', 'Wall Light', 20),
  light('chandelier', 'Chandelier', 140),
  light('reading', 'Reading Light', 10, false),
  light('night', 'Night Light', 4, false),
  light('desk', 'Desk Lamp', 12),
]
export const OUTDOOR_LIGHTS: readonly DeviceType[] = [
  light('flood', 'Flood Light', 150, false),
  light('path', 'Path Lights', 40),
  light('lantern', 'Lantern', 20),
]

const appliance = (type: string, label: string, watts: number, ...traits: ('hot' | 'noisy')[]): DeviceType => ({
  ...plain,
  kind: 'appliance',
  type,
  label,
  watts,
  hot: traits.includes('hot'),
  noisy: traits.includes('noisy'),
})

export const KITCHEN_APPLIANCES: readonly DeviceType[] = [
  appliance('oven', 'Oven', 2500, 'hot'),
  appliance('hob', 'Hob', 3000, 'hot'),
  appliance('grill', 'Grill', 1800, 'hot'),
  appliance('dishwasher', 'Dishwasher', 1800, 'noisy'),
  appliance('steamer', 'Steam Oven', 2200, 'hot'),
  appliance('coffee', 'Coffee Machine', 1200),
  appliance('bread', 'Bread Maker', 600),
  appliance('rice', 'Rice Cooker', 700),
]
export const LAUNDRY_APPLIANCES: readonly DeviceType[] = [
  appliance('washer', 'Washing Machine', 2000, 'noisy'),
  appliance('dryer', 'Tumble Dryer', 2200, 'noisy'),
  appliance('press', 'Steam Press', 1600, 'hot'),
]
export const OTHER_APPLIANCES: readonly DeviceType[] = [
  appliance('heater', 'Fan Heater', 1500, 'hot'),
  appliance('purifier', 'Air Purifier', 60),
  appliance('vacuum', 'Robot Vacuum', 100, 'noisy'),
  appliance('humidifier', 'Humidifier', 40),
  appliance('dehumidifier', 'Dehumidifier', 280),
]

const sensor = (type: string, label: string, low: number, high: number): DeviceType => ({
  ...plain,
  kind: 'sensor',
  type,
  label,
  low,
  high,
})

export const INDOOR_SENSORS: readonly DeviceType[] = [
  sensor('temperature', 'Temperature Sensor', 15, 26),
  sensor('humidity', 'Humidity Sensor', 28, 72),
  sensor('motion', 'Motion Sensor', 0, 60),
  sensor('air', 'Air Quality Sensor', 400, 1500),
]
export const OUTDOOR_SENSORS: readonly DeviceType[] = [
  sensor('temperature', 'Temperature Sensor', -6, 14),
  sensor('motion', 'Motion Sensor', 0, 90),
]
export const RAIN_SENSOR = sensor('rain', 'Rain Sensor', 0, 12)

/** Units of the readings, by type of sensor. */
export const UNITS: Readonly<Record<string, string>> = {
  temperature: 'degrees',
  humidity: 'percent',
  motion: 'movements',
  air: 'ppm',
  rain: 'mm',
}

export const BLIND: DeviceType = { ...plain, kind: 'cover', type: 'blind', label: 'Blind', high: 100 }
export const WINDOW: DeviceType = { ...plain, kind: 'cover', type: 'window', label: 'Roof Window', high: 100 }
export const LOCK: DeviceType = { ...plain, kind: 'lock', type: 'door', label: 'Door' }
export const CAMERA: DeviceType = { ...plain, kind: 'camera', type: 'camera', label: 'Camera' }
export const SPEAKER: DeviceType = { ...plain, kind: 'speaker', type: 'speaker', label: 'Speaker', high: 100 }

/** Returns the thermostat for a `room`, with its target range in degrees. The range is low enough for away mode. */
export function thermostatOf(room: string): DeviceType {
  const [low, high] =
    room === 'Wine Cellar'
      ? [8, 16]
      : room === 'Bathroom'
        ? [14, 28]
        : /Nursery|Kids/.test(room)
          ? [16, 24]
          : [LIMITS.awayDegrees - 6, 26]
  return { ...plain, kind: 'thermostat', type: 'thermostat', label: 'Thermostat', low: low!, high: high! }
}

/** A scene that people have: the `rooms` that it is for, and the triggers that might run it automatically. */
export interface SceneKind {
  readonly name: string
  readonly rooms: RegExp
  readonly triggers: readonly Trigger[]
}

const LIVING = /Living|Library|Sunroom|Music|Loft|Gallery|Study/
const SLEEPING = /Bedroom|Nursery|Dressing/
const PRACTICAL = /Kitchen|Laundry|Workshop|Hobby|Gym|Garage|Hall|Bathroom/
const ANYWHERE = /./

const sceneKind = (name: string, rooms: RegExp, ...triggers: Trigger[]): SceneKind => ({ name, rooms, triggers })

export const SCENES: readonly SceneKind[] = [
  sceneKind('Movie Night', /Living|Cinema|Loft|Hobby/, 'sunset', 'arrival'),
  sceneKind('Movie Marathon', /Living|Cinema|Loft|Hobby/, 'sunset'),
  sceneKind('Cosy Evening', LIVING, 'sunset', 'arrival'),
  sceneKind('Bright Morning', ANYWHERE, 'sunrise'),
  sceneKind('Quiet Morning', SLEEPING, 'sunrise'),
  sceneKind('Homework', /Kids|Study|Library|Dining/, 'arrival', 'sunset'),
  sceneKind('Dinner Party', /Dining|Living|Kitchen/, 'sunset', 'arrival'),
  sceneKind('Dinner For Two', /Dining|Living|Kitchen/, 'sunset'),
  sceneKind('Siesta', /Bedroom|Nursery|Sunroom|Living/, 'arrival'),
  sceneKind('Deep Clean', PRACTICAL, 'departure', 'sunrise'),
  sceneKind('Reading Time', /Library|Study|Bedroom|Living|Nursery/, 'sunset', 'bedtime'),
  sceneKind('Candle Light', /Dining|Living|Bathroom|Main Bedroom|Terrace/, 'sunset'),
  sceneKind('Yoga', /Gym|Sunroom|Living|Loft/, 'sunrise'),
  sceneKind('Game Night', /Living|Hobby|Cinema|Dining|Kids/, 'sunset', 'arrival'),
  sceneKind('Wake Up', SLEEPING, 'sunrise'),
  sceneKind('Focus', /Study|Library|Workshop|Loft|Hobby/, 'sunrise'),
  sceneKind('Wind Down', /Bedroom|Nursery|Living|Library|Bathroom/, 'sunset', 'bedtime'),
  sceneKind('Guests', /Guest|Living|Dining|Hall|Gallery/, 'arrival', 'sunset'),
  sceneKind('Sunday Brunch', /Kitchen|Dining|Sunroom/, 'sunrise'),
  sceneKind('Sweet Dreams', SLEEPING, 'bedtime'),
  sceneKind('Star Gazing', /Loft|Terrace|Balcony|Garden|Gallery/, 'sunset', 'bedtime'),
  sceneKind('Spa Hour', /Bathroom|Gym/, 'arrival', 'sunset'),
  sceneKind('Party Lights', /Living|Hobby|Terrace|Garden|Dining/, 'sunset'),
  sceneKind('Home Office', /Study|Library|Loft|Guest/, 'sunrise'),
  sceneKind('Rainy Day', LIVING, 'arrival'),
  sceneKind('Tea Time', /Kitchen|Dining|Sunroom|Living/, 'arrival'),
  sceneKind('Band Practice', /Music|Hobby|Workshop|Garage/, 'arrival'),
  sceneKind('Midnight Snack', /Kitchen/, 'bedtime'),
  sceneKind('Evening Light', ANYWHERE, 'sunset', 'arrival'),
  sceneKind('Soft Light', ANYWHERE, 'sunset', 'bedtime'),
  sceneKind('Daylight', ANYWHERE, 'sunrise'),
  sceneKind('Welcome Home', /Hall|Living|Kitchen|Porch|Garage/, 'arrival'),
  sceneKind('Night Path', /Hall|Bathroom|Laundry|Garden|Porch|Carport|Gallery/, 'bedtime', 'sunset'),
  sceneKind('Laundry Day', /Laundry/, 'sunrise'),
  sceneKind('Breakfast', /Kitchen|Dining|Sunroom/, 'sunrise'),
  sceneKind('Workout', /Gym|Garage|Hobby/, 'sunrise', 'arrival'),
  sceneKind('Wine Tasting', /Wine Cellar|Dining/, 'sunset'),
]

/** Returns the scenes that people would have in a `room`. */
export const scenesIn = (room: string): SceneKind[] => SCENES.filter(({ rooms }) => rooms.test(room))

/** When a scene of that name might run by itself: any time, if nothing is known of it. */
export const triggersOf = (scene: string): readonly Trigger[] =>
  SCENES.find(({ name }) => name === scene)?.triggers ?? TRIGGERS

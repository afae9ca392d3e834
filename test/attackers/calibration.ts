import { join } from 'node:path'
import { checkout } from '../support/checkout.js'

/** What audits judge the demo model by, as `prove-lab calibrate` measured it. */
export const DEMO_CALIBRATION = join(checkout, 'models', 'demo', 'calibration-f16.json')
/** A calibration of an earlier base of the demo, of 800 groups: the mathematics of sums over a key are tested against it. */
export const RECORDED_CALIBRATION = join(checkout, 'test', 'fixtures', 'calibration', '800-groups-cpu-f16.json')

import { join } from 'node:path'
import { checkout } from '../support/checkout.js'

/** What audits judge the demo model by, as `prove-lab calibrate` measured it. */
export const DEMO_CALIBRATION = join(checkout, 'models', 'demo', 'calibration-f16.json')

import { join } from 'node:path'
import { checkout } from '../checkout.js'

/** What audits judge the demo model by, as `prove-coordinator calibrate` measured it. */
export const DEMO_CALIBRATION = join(checkout, 'models', 'demo', 'calibration-f16.json')

import { SESSION_START } from '../../../servers/kernel/index.js'

/** The day on which every conversation takes place, YYYY-MM-DD. */
export const TODAY = SESSION_START.slice(0, 10)

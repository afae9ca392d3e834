export { type ControlClient, ControlError, reachControl } from './client.js'
export { linesOf } from './lines.js'
export { PRIVATE_FILE, PRIVATE_FOLDER, PRIVATE_UMASK } from './owner-only.js'
export { type ControlAnswer, type ControlAsk, ControlRefusal, type ControlRoute, serveControl } from './server.js'

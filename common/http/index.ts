export { type Access, accessRefusal, hostsOf, isLoopback, isOrigin } from './access.js'
export { limitConnections } from './connection-limit.js'
export { type Listening, listen } from './listen.js'
export { createSessionTable, type SessionTable, type SessionTableOptions } from './session-table.js'

export * from './chains.js'
export * from './demonstrate.js'
export * from './make-task.js'
export * from './synthesise.js'

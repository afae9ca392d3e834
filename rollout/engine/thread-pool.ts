/**
 * Has libuv start a single thread, on which the library does what it is asked in the order of asking. So looks at distributions
 * can be asked for behind the decode that they are of, which spares the way to the main thread and back, and the caches of one
 * core stay warm. libuv reads this once, when it first needs a thread, which is before any line of ours runs.
 */
export const SINGLE_THREAD: NodeJS.ProcessEnv = { UV_THREADPOOL_SIZE: '1' }

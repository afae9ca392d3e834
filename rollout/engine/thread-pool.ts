/**
 * Environment that limits libuv to a single thread, on which the library runs its calls in order. So reads of distributions can queue
 * behind their decode, which saves the round trip to the main thread. The caches of one core also stay warm. libuv reads the
 * variable once, when it first needs a thread, before the program's own code runs.
 */
export const SINGLE_THREAD: NodeJS.ProcessEnv = { UV_THREADPOOL_SIZE: '1' }

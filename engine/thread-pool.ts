/**
 * libuv's threads, on which the library does what it is asked. There are as many as the engine may compute with: looks at
 * distributions are computing too. With a single one all is done in the order of asking, so that looks can be asked for behind
 * the decode that they are of, which spares the way to the main thread and back; and the caches of one core stay warm.
 */

/** What a process is started with. libuv reads it once, when it first needs a thread, which is before any line of ours runs. */
export const poolEnvironment = (threads: number): NodeJS.ProcessEnv => ({ UV_THREADPOOL_SIZE: `${threads}` })

/** Whether a process that was started with `poolEnvironment(threads)` does in order what it is asked. */
export const worksInOrder = (threads: number): boolean => threads === 1

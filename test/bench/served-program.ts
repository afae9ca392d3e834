import type { Readable } from 'node:stream'
import { execa, type Options } from 'execa'
import pidusage from 'pidusage'

const START_MS = 60_000

/** A server in a child process that reports its address. */
export interface ServedProgram {
  readonly origin: string
  /** Resident bytes. */
  memory(): Promise<number>
  close(): Promise<void>
}

/** Starts a server. @throws Error with its output, if it ends or reports no address within a minute */
export async function startServer(
  file: string,
  args: readonly string[],
  options: Options = {},
): Promise<ServedProgram> {
  const child = execa(file, args, {
    ...options,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
    reject: false,
    buffer: false,
  })
  const close = async (): Promise<void> => {
    child.kill()
    await child
  }
  try {
    const origin = await originIn(child.stderr, AbortSignal.timeout(START_MS))
    // Later output is dropped, so that it does not fill the pipe.
    child.stderr.resume()
    return { origin, close, memory: async () => (await pidusage(child.pid!)).memory }
  } catch (error) {
    await close()
    throw new Error(`${file} ${args.join(' ')}: ${(error as Error).message}`)
  }
}

function originIn(stderr: Readable, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [origin] = said.match(/http:\/\/\S+:\d+/) ?? []
      if (origin !== undefined) resolve(origin)
    })
    stderr.once('close', () => reject(new Error(`it ended and said ${said}`)))
    signal.addEventListener('abort', () => reject(new Error(`it named no address, and said ${said}`)))
  })
}

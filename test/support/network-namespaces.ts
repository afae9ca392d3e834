import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { execa } from 'execa'

/** Hosts with addresses and a cable of their own, on one machine: Linux's network namespaces, joined by a bridge. */
export interface NamespaceLab {
  /** A host on the bridge. */
  host(name: string, ip: string): Promise<NamespaceHost>
  close(): Promise<void>
}

export interface NamespaceHost {
  start(command: string, args: readonly string[]): ChildProcess
  cable(plugged: boolean): Promise<void>
  /** Gives the host another address in place of its own. */
  move(ip: string): Promise<void>
}

const ip = (...args: readonly string[]): Promise<unknown> => execa('ip', args)

/** Why this system lets nobody make namespaces with links between them; null: it does. */
export async function lacksNamespaces(): Promise<string | null> {
  try {
    const lab = await createNamespaceLab()
    await lab.host('try', '10.77.0.2').finally(() => lab.close())
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0]!
  }
}

/** @param kbits  what each cable carries in each direction, a second; default: no limit */
export async function createNamespaceLab({ kbits }: { readonly kbits?: number } = {}): Promise<NamespaceLab> {
  // Names of interfaces have 15 characters at most.
  const id = `pv${randomBytes(2).toString('hex')}`
  const net = `${id}-net`
  const made: string[] = []
  const add = async (name: string): Promise<void> => {
    await ip('netns', 'add', name)
    made.push(name)
    await ip('-n', name, 'link', 'set', 'lo', 'up')
  }
  const close = async (): Promise<void> => {
    for (const name of made.splice(0).reverse()) await ip('netns', 'del', name)
  }
  const shape = async (name: string, device: string): Promise<void> => {
    if (kbits === undefined) return
    await execa('tc', [
      '-n',
      name,
      'qdisc',
      'add',
      'dev',
      device,
      'root',
      'tbf',
      'rate',
      `${kbits}kbit`,
      'burst',
      '256k',
      'latency',
      '400ms',
    ])
  }
  try {
    await add(net)
    await ip('-n', net, 'link', 'add', 'br0', 'type', 'bridge')
    await ip('-n', net, 'link', 'set', 'br0', 'up')
  } catch (error) {
    await close()
    throw error
  }
  let hosts = 0
  return {
    close,
    async host(name, address) {
      const own = `${id}-${name}`
      hosts += 1
      const port = `h${hosts}`
      await add(own)
      await ip('link', 'add', port, 'netns', net, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', own)
      await ip('-n', net, 'link', 'set', port, 'master', 'br0', 'up')
      await ip('-n', own, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
      await ip('-n', own, 'link', 'set', 'eth0', 'up')
      await shape(own, 'eth0')
      await shape(net, port)
      return {
        start: (command, args) =>
          spawn('ip', ['netns', 'exec', own, command, ...args], { stdio: ['pipe', 'pipe', 'pipe'] }),
        // At the bridge's end, as somebody pulls it out of the wall: the host's own end keeps its address.
        cable: async (plugged) => void (await ip('-n', net, 'link', 'set', port, plugged ? 'up' : 'down')),
        async move(next) {
          await ip('-n', own, 'addr', 'flush', 'dev', 'eth0')
          await ip('-n', own, 'addr', 'add', `${next}/24`, 'dev', 'eth0')
        },
      }
    },
  }
}

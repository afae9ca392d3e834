import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { execa } from 'execa'

/** Hosts with addresses and a cable of their own, on one machine: Linux's network namespaces, joined by a bridge. */
export interface NamespaceLab {
  /** A host on the bridge. @param kbits  what it can send in a second; default: what the cable carries */
  host(name: string, ip: string, kbits?: number): Promise<NamespaceHost>
  /**
   * A host in a network of its own, behind a router at this address of the bridge that translates addresses and lets nobody in. Its
   * addresses are of the same block as the bridge's: a node dials none in other private networks.
   */
  hostBehindRouter(name: string, ip: string): Promise<NamespaceHost>
  /** What a name stands for from now on, on all hosts; null: nothing. */
  name(name: string, ip: string | null): Promise<void>
  close(): Promise<void>
}

export interface NamespaceHost {
  /** Of the namespace, as `ip netns` has it. */
  readonly id: string
  start(command: string, args: readonly string[]): ChildProcess
  cable(plugged: boolean): Promise<void>
  /** Gives the host another address in place of its own. */
  move(ip: string): Promise<void>
}

const ip = (...args: readonly string[]): Promise<unknown> => execa('ip', args)

/** `ip netns exec` puts what lies here in the place of the files of the same names in /etc. */
const NETNS_ETC = '/etc/netns'
const ROUTER_RULES = `
table ip nat {
  chain out { type nat hook postrouting priority srcnat; oifname "eth0" masquerade; }
}
table ip filter {
  chain through { type filter hook forward priority filter; policy drop; ct state established,related accept; iifname "lan0" accept; }
}
`

/** Why this system lets nobody make namespaces with links between them; null: it does. */
export async function lacksNamespaces(): Promise<string | null> {
  try {
    const lab = await createNamespaceLab()
    await lab.hostBehindRouter('try', '10.77.0.2').finally(() => lab.close())
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
    await mkdir(`${NETNS_ETC}/${name}`, { recursive: true })
    await tellNames([name])
  }
  const close = async (): Promise<void> => {
    for (const name of made.splice(0).reverse()) {
      await ip('netns', 'del', name)
      await rm(`${NETNS_ETC}/${name}`, { recursive: true, force: true })
    }
  }
  const names = new Map<string, string>()
  const tellNames = async (namespaces: readonly string[]): Promise<void> => {
    const lines = ['127.0.0.1 localhost', ...[...names].map(([name, at]) => `${at} ${name}`), '']
    // In place: what runs there sees this very file.
    for (const one of namespaces) await writeFile(`${NETNS_ETC}/${one}/hosts`, lines.join('\n'))
  }
  const shape = async (name: string, device: string, rate = kbits): Promise<void> => {
    if (rate === undefined) return
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
      `${rate}kbit`,
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
  const start =
    (own: string): NamespaceHost['start'] =>
    (command, args) =>
      spawn('ip', ['netns', 'exec', own, command, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  const host: NamespaceLab['host'] = async (name, address, sends) => {
    const own = `${id}-${name}`
    hosts += 1
    const port = `h${hosts}`
    await add(own)
    await ip('link', 'add', port, 'netns', net, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', own)
    await ip('-n', net, 'link', 'set', port, 'master', 'br0', 'up')
    await ip('-n', own, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    await ip('-n', own, 'link', 'set', 'eth0', 'up')
    await shape(own, 'eth0', sends)
    await shape(net, port)
    return {
      id: own,
      start: start(own),
      // At the bridge's end, as somebody pulls it out of the wall: the host's own end keeps its address.
      cable: async (plugged) => void (await ip('-n', net, 'link', 'set', port, plugged ? 'up' : 'down')),
      async move(next) {
        await ip('-n', own, 'addr', 'flush', 'dev', 'eth0')
        await ip('-n', own, 'addr', 'add', `${next}/24`, 'dev', 'eth0')
      },
    }
  }
  return {
    close,
    host,
    async hostBehindRouter(name, address) {
      const [router, own] = [`${id}-${name}-r`, `${id}-${name}`]
      const { cable, move } = await host(`${name}-r`, address)
      await add(own)
      await ip('link', 'add', 'lan0', 'netns', router, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', own)
      await ip('-n', router, 'addr', 'add', '10.77.0.193/26', 'dev', 'lan0')
      await ip('-n', router, 'link', 'set', 'lan0', 'up')
      await ip('-n', own, 'addr', 'add', '10.77.0.194/26', 'dev', 'eth0')
      await ip('-n', own, 'link', 'set', 'eth0', 'up')
      await ip('-n', own, 'route', 'add', 'default', 'via', '10.77.0.193')
      await ip('netns', 'exec', router, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1')
      await execa('ip', ['netns', 'exec', router, 'nft', '-f', '-'], { input: ROUTER_RULES })
      return { id: own, start: start(own), cable, move }
    },
    async name(name, at) {
      if (at === null) names.delete(name)
      else names.set(name, at)
      await tellNames(made)
    },
  }
}

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { reachControl } from '../../../common/control/index.js'
import { soon } from '../../support/swarm-nodes.js'
import { networkAttack } from '../network-attack.js'

/** More than either server keeps open. */
const DASHBOARD_SOCKETS = 600
const CONTROL_SOCKETS = 100
const HALF_A_REQUEST = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: '

async function openAll(count: number, open: () => Socket): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => {
    const socket = open()
    // The server may drop it at any time.
    socket.on('error', () => undefined)
    return socket
  })
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))),
  )
  for (const socket of sockets) socket.write(HALF_A_REQUEST)
  return sockets
}

export const idleSockets = networkAttack({
  name: 'idle-sockets',
  about: 'opens hundreds of connections to the dashboard and the control socket, with incomplete requests',
  messages: DASHBOARD_SOCKETS + CONTROL_SOCKETS,
  async carryOut(arena) {
    const { coordinator, dataDir } = arena.run
    const shown = coordinator.lines.find(({ type }) => type === 'dashboard')
    if (!shown) return ['the coordinator has no dashboard']
    const { hostname, port, href } = new URL(shown.url as string)
    const sockets: Socket[] = []
    try {
      sockets.push(...(await openAll(DASHBOARD_SOCKETS, () => connect(Number(port), hostname))))
      sockets.push(...(await openAll(CONTROL_SOCKETS, () => connect(join(dataDir, 'control.sock')))))
      const page = await fetch(new URL('/metrics', href), { signal: soon() }).catch(() => null)
      const control = await reachControl(dataDir, soon()).catch(() => null)
      return [
        ...(page?.ok ? [] : [`the dashboard answered with ${page?.status ?? 'nothing'}`]),
        ...(control ? [] : ['the control socket did not answer']),
      ]
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
})

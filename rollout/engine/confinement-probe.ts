import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'

/** Tests what a confined process can do. `find-confinement.ts` starts this script. */

const [port, secret, outside, scratch] = process.argv.slice(2)

function can(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

const reachesNetwork = await new Promise<boolean>((resolve) => {
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('connect', () => resolve(true))
  socket.on('error', () => resolve(false))
})
const found = {
  reachesNetwork,
  readsSecret: can(() => readFileSync(secret!)),
  writesOutside: can(() => {
    writeFileSync(outside!, 'x')
    rmSync(outside!)
  }),
  writesScratch: can(() => writeFileSync(`${scratch}/probe`, 'x')),
}
process.stdout.write(JSON.stringify(found), () => process.exit(0))

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { controlAddress, controlAddresses } from '../../../common/control/address.js'
import { serveControl } from '../../../common/control/server.js'

const folder = mkdtempSync(join(tmpdir(), 'prove-control-'))
test.after(() => rmSync(folder, { recursive: true }))

const ROUTES = [{ method: 'GET', path: '/', answer: async () => ({ json: { up: true } }) }] as const

test('a program is reachable over a socket in its data directory', async () => {
  const served = await serveControl(folder, ROUTES)
  assert.is(await controlAddress(folder), join(folder, 'control.sock'))
  assert.ok(existsSync(join(folder, 'control.sock')))
  await served.close()
  assert.not.ok(existsSync(join(folder, 'control.sock')))
})

test('where the file system has no sockets, the socket is elsewhere, and the data directory names it', async () => {
  const [, elsewhere] = controlAddresses(folder)
  const released: string[] = []
  const refusing = async () => ({
    address: join(folder, 'no such folder', 'control.sock'),
    release: async () => void released.push('refusing'),
  })
  const served = await serveControl(folder, ROUTES, [refusing, elsewhere!])
  assert.equal(released, ['refusing'])
  const address = (await controlAddress(folder))!
  assert.ok(!address.startsWith(folder) && existsSync(address), address)
  await served.close()
  assert.not.ok(existsSync(address))
  assert.is(await controlAddress(folder), join(folder, 'control.sock'))
  const failed = await serveControl(folder, ROUTES, [refusing]).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code,
  )
  assert.ok(failed, 'without another address, the error is reported')
})

test('the next start removes the note of an earlier address', async () => {
  const data = join(folder, 'noted')
  mkdirSync(data)
  writeFileSync(join(data, 'control.path'), '/gone/control.sock')
  assert.is(await controlAddress(data), '/gone/control.sock')
  const served = await serveControl(data, ROUTES)
  assert.is(await controlAddress(data), join(data, 'control.sock'))
  await served.close()
})

test.run()

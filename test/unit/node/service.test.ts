import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentFile, type Service, unitFile } from '../../../node/background/service-file.js'
import { serviceManagerOf } from '../../../node/background/services-here.js'
import { stableNode } from '../../../node/background/stable-node.js'
import { serviceFor } from '../../../node/commands/service.js'
import { NodeError } from '../../../node/report/errors.js'
import { testWith } from '../../support/needs.js'

const folder = mkdtempSync(join(tmpdir(), 'prove-service-'))
test.after(() => rmSync(folder, { recursive: true }))

/** Words with everything that either format treats as its own. */
const WORDS = ['join', 'a b', '100%h', '$HOME', '$(HOME)', 'back\\slash', 'say "so"', "it's", '<&>', '-x', '#', ';']

const program = join(folder, 'a program')
writeFileSync(program, '#!/bin/sh\nexit 0\n')
chmodSync(program, 0o755)
const service: Service = { command: [program, ...WORDS], workingDirectory: folder, logFile: join(folder, 'a & b.log') }

/** Splits and unescapes a command line as systemd.service(5) says, for quoted words alone. */
function wordsOf(unit: string): string[] {
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
  const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"(?: |$)/g)]
  assert.is(words.map(([whole]) => whole).join(''), line, 'nothing but quoted words')
  return words.map(([, word]) => word!.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'))
}

test('a unit starts the program with exactly the given words', () => {
  const unit = unitFile(service)
  assert.equal(wordsOf(unit), service.command)
  assert.not.match(unit.replaceAll('%%', '').replaceAll('$$', ''), /[%$]/, 'systemd fills nothing in')
})

testWith(
  test,
  'systemd-analyze',
  'systemd',
)('systemd accepts a unit without a warning', () => {
  const path = join(folder, 'prove-node.service')
  writeFileSync(path, unitFile(service))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', path], {
    encoding: 'utf8',
    // It looks for the user's own manager there, which a machine without sessions lacks.
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  })
  assert.not.match(stderr, /prove-node/)
  assert.is(status, 0, stderr)
})

test('an agent of launchd is a property list with exactly the given words', () => {
  const list = agentFile(service)
  const words = [...list.matchAll(/^ {4}<string>(.*)<\/string>$/gm)].map(([, text]) =>
    text!.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  )
  assert.equal(words, service.command)
})

testWith(
  test,
  'python3',
  'python3',
)('Python reads an agent of launchd as the property list that was meant', () => {
  const list = agentFile(service)
  const script = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const parsed = JSON.parse(execFileSync('python3', ['-c', script], { input: list, encoding: 'utf8' }))
  assert.equal(parsed.ProgramArguments, service.command)
  assert.is(parsed.StandardErrorPath, service.logFile)
  assert.equal([parsed.RunAtLoad, parsed.KeepAlive, parsed.Umask], [true, { SuccessfulExit: false }, 0o077])
})

test('the service has absolute paths of the data folder and of the environments', () => {
  const { command } = serviceFor('prove3-\nAwB', { dataDir: 'data', environments: ['./library', '/srv/a world'] })
  const join = command.indexOf('join')
  assert.equal(command.slice(join), [
    ...['join', 'prove3-AwB', '--data-dir', resolve('data'), '--yes', '--plain'],
    ...['--environments', resolve('library'), '--environments', '/srv/a world'],
  ])
})

test('text with a line break is refused', () => {
  const evil = { ...service, command: [program, 'x\nExecStartPre=/bin/rm -rf /'] }
  for (const write of [unitFile, agentFile])
    assert.throws(
      () => write(evil),
      (error: unknown) => error instanceof NodeError && error.code === 'no_service',
    )
})

test('each supported system has its file and commands, and other systems an error', () => {
  const linux = serviceManagerOf('linux', { XDG_CONFIG_HOME: '/home/ada/conf' })
  assert.is(linux.path, '/home/ada/conf/systemd/user/prove-node.service')
  assert.match(serviceManagerOf('darwin', {}).path, /Library\/LaunchAgents\/org\.prove-swarm\.node\.plist$/)
  assert.throws(() => serviceManagerOf('win32', {}), /no_service: cannot install a service on win32/)
})

test('a service starts Node.js by the link that stays when its version changes', () => {
  const [cellar, links, other] = ['Cellar/node/26.1.0/bin', 'links', 'other'].map((name) => join(folder, name))
  for (const made of [cellar, links, other]) mkdirSync(made!, { recursive: true })
  const executable = join(cellar!, 'node')
  writeFileSync(executable, '')
  writeFileSync(join(other!, 'node'), '')
  symlinkSync(executable, join(links!, 'node'))
  const path = (...folders: string[]) => folders.join(':')
  assert.is(stableNode(executable, path('relative', other!, cellar!, links!)), join(links!, 'node'))
  assert.is(stableNode(executable, path(other!, cellar!)), executable)
  assert.is(stableNode(executable, ''), executable)
  assert.is(stableNode(join(folder, 'gone'), path(folder, links!)), join(folder, 'gone'))
})

test.run()

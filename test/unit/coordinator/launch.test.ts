import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse, parseAllDocuments } from 'yaml'
import { type LaunchedProgram, launchCommands } from '../../../coordinator/jobs/torchrun.js'
import { configSchema } from '../../../coordinator/settings/config.js'
import { trainerLaunch } from '../../../coordinator/settings/trainer-launch.js'
import { checkout } from '../../support/checkout.js'

const program = (launch: object): LaunchedProgram => ({
  launch: trainerLaunch.parse(launch),
  life: 'ab12',
  python: '/opt/prove/bin/python',
  args: ['-m', 'prove_trainer', '--jobs', "/srv/Bob's run/jobs"],
  env: { OMP_NUM_THREADS: '1' },
  processes: 8,
})

const agent = (nodes: number, endpoint: string, ...own: string[]): string[] => [
  ...['env', 'OMP_NUM_THREADS=1', '/opt/prove/bin/python', '-m', 'torch.distributed.run'],
  ...['--nnodes', String(nodes), '--nproc-per-node', '8', '--max-restarts', '0'],
  ...['--rdzv-backend', 'c10d', '--rdzv-endpoint', endpoint, '--rdzv-id', 'ab12', ...own],
  ...['-m', 'prove_trainer', '--jobs', "/srv/Bob's run/jobs", '--life', 'ab12'],
]

test('each host gets a command of its own, and the first is where they meet', () => {
  const commands = launchCommands(program({ hosts: ['gpu1', 'gpu2'], command: ['on', '{host}', '{program}'] }))
  assert.equal(commands, [
    ['on', 'gpu1', ...agent(2, 'gpu1:29400', '--local-addr', 'gpu1', '--rdzv-conf', 'is_host=1')],
    ['on', 'gpu2', ...agent(2, 'gpu1:29400', '--local-addr', 'gpu2', '--rdzv-conf', 'is_host=0')],
  ])
  const [six] = launchCommands(program({ hosts: ['fd00::1', 'fd00::2'], command: ['on', '{host}', '{program}'] }))
  assert.is(six![six!.indexOf('--rdzv-endpoint') + 1], '[fd00::1]:29400')
})

test('a single command for all machines gets their number and the rendezvous', () => {
  const launch = { nodes: 4, endpoint: 'gpu1:5000', command: ['srun', '--nodes=4', '--job-name={life}', '{program}'] }
  assert.equal(launchCommands(program(launch)), [['srun', '--nodes=4', '--job-name=ab12', ...agent(4, 'gpu1:5000')]])
})

test('as one word for a shell the program is the same', () => {
  const launch = {
    hosts: ['gpu1'],
    env: { NOTE: 'two words; $HOME `id`' },
    command: ['sh', '-c', 'printf "%s\\n" {shell}'],
  }
  const [[shell, ...args]] = launchCommands(program(launch)) as [[string, ...string[]]]
  const words = execFileSync(shell, args, { encoding: 'utf8' }).trimEnd().split('\n')
  const whole = agent(1, 'gpu1:29400', '--local-addr', 'gpu1', '--rdzv-conf', 'is_host=1')
  assert.equal(words, [...whole.slice(0, 2), 'NOTE=two words; $HOME `id`', ...whole.slice(2)])
})

test('a launch that could start nothing, or the wrong number of machines, is refused', () => {
  const good = { hosts: ['a', 'b'], command: ['ssh', '{host}', '{shell}'] }
  const complaint = (change: object): string | undefined =>
    trainerLaunch.safeParse({ ...good, ...change }).error?.issues[0]?.message
  assert.is(complaint({}), undefined)
  assert.match(complaint({ nodes: 2 })!, /give hosts/)
  assert.match(complaint({ hosts: [] })!, /give hosts/)
  assert.match(complaint({ hosts: [], nodes: 2 })!, /endpoint/)
  assert.match(complaint({ command: ['ssh', '{host}'] })!, /start no rank/)
  assert.match(complaint({ command: ['ssh', 'a', '{shell}'] })!, /the same for all hosts/)
  assert.match(complaint({ endpoint: 'gpu1' })!, /host:port/)
  assert.match(complaint({ env: { 'A B': '1' } })!, /Invalid key|name of a variable/)
  assert.match(complaint({ silenceMs: 4999 })!, /5000/)
})

test('the examples in runs/launch are what run.yaml takes', () => {
  const folder = join(checkout, 'runs', 'launch')
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  assert.equal(files.sort(), ['kubernetes.yaml', 'local.yaml', 'slurm.yaml', 'ssh.yaml'])
  for (const name of files) {
    const { trainer, ...others } = parse(readFileSync(join(folder, name), 'utf8'))
    assert.equal(others, {}, name)
    const needed = { dataDir: 'data', base: { path: 'base.gguf', name: 'base' }, tasks: { dataset: 'tasks' } }
    const read = configSchema.safeParse({ ...needed, trainer })
    assert.ok(read.success, `${name}: ${read.error}`)
  }
})

test('the Job of the Kubernetes example runs the program in every pod, and goes when it is over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-launch-'))
  try {
    // Notes what it is asked, and says that the Job has failed.
    const kubectl = `#!/bin/sh\necho "$*" >> ${folder}/calls\ncase "$1" in apply) cat > ${folder}/manifest ;; get) echo Failed ;; esac\n`
    writeFileSync(join(folder, 'kubectl'), kubectl, { mode: 0o755 })
    const said = "env A=1 python --spool '/srv/a b'"
    const env = { PATH: `${folder}:${process.env.PATH}`, PROVE_TRAINER_IMAGE: 'image', PROVE_RUN_FOLDER: '/srv' }
    const script = join(checkout, 'runs', 'launch', 'kubernetes.sh')
    const { status } = spawnSync('sh', [script, 'ab12', said], { env })
    assert.is(status, 1)
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    assert.equal(
      calls.map((call) => call.split(' ')[0]),
      ['delete', 'apply', 'get', 'logs', 'delete'],
    )
    const [service, job] = parseAllDocuments(readFileSync(join(folder, 'manifest'), 'utf8')).map((one) => one.toJS())
    assert.is(service.metadata.name, 'prove-trainer')
    assert.is(job.metadata.labels['prove-life'], 'ab12')
    assert.is(job.spec.template.spec.subdomain, service.metadata.name)
    const [{ command, args, volumeMounts }] = job.spec.template.spec.containers
    assert.equal([command, args], [['sh', '-c'], [`exec ${said}\n`]])
    assert.is(volumeMounts[0].mountPath, '/srv')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()

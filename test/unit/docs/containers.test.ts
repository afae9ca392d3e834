import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { validate } from 'dockerfile-utils'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../../../coordinator/settings/config.js'
import { addSynthesizeCommand } from '../../../lab/commands/synthesize.js'
import { addJoinCommand } from '../../../node/commands/join.js'

/** No container engine is here: what can be known of the files without one. */

const read = (name: string): string => readFileSync(`runs/docker/${name}`, 'utf8')
const DOCKERFILES = readdirSync('runs/docker').filter((name) => name.endsWith('.Dockerfile'))
/** Arguments of an instruction, wherever it stands, with lines that go on put together. */
const all = (text: string, instruction: string): string[] =>
  [...text.replaceAll('\\\n', ' ').matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest]) => rest!)

const strings = z.array(z.string())
/** As much of the Compose Specification as the file uses; other keys would be mistakes of ours. */
const compose = z.strictObject({
  name: z.string(),
  services: z.record(
    z.string(),
    z.strictObject({
      image: z.string(),
      build: z.strictObject({
        context: z.literal('.'),
        dockerfile: z.string(),
        args: z.record(z.string(), z.string()),
      }),
      entrypoint: strings.optional(),
      command: strings.optional(),
      profiles: strings.optional(),
      depends_on: z
        .record(z.string(), z.strictObject({ condition: z.literal('service_completed_successfully') }))
        .optional(),
      healthcheck: z.strictObject({ disable: z.literal(true) }).optional(),
      init: z.literal(true).optional(),
      restart: z.enum(['on-failure', 'unless-stopped']).optional(),
      stop_grace_period: z.string().optional(),
      ports: strings.optional(),
      volumes: strings.optional(),
    }),
  ),
  volumes: z.record(z.string(), z.strictObject({})),
})
const { services, volumes } = compose.parse(parse(read('compose.yaml')))

for (const name of DOCKERFILES) {
  const text = read(name)

  test(`${name} is a Dockerfile without a mistake that shows before it is run`, () => {
    assert.equal(validate(text), [])
    assert.not.equal(validate(text.replace('WORKDIR', 'WORKDIIR')), [], 'mistakes are found')
  })

  test(`${name} names the version of every image that it begins with`, () => {
    const stages = all(text, 'FROM').map((line) => line.split(' AS '))
    for (const [image] of stages)
      assert.ok(/^[a-z/]+:\d[\w.-]+$/.test(image!) || stages.some(([, stage]) => isStage(image!, stage)), image)
  })

  test(`${name} installs the packed program, runs without root, keeps its data in a volume, and tells its health`, () => {
    assert.match(text, /COPY prove-swarm-\*\.tgz \/tmp\/prove-swarm\.tgz\n(?:#.*\n)*RUN npm install --global /)
    assert.is(all(text, 'USER').at(-1), 'prove')
    assert.ok(text.lastIndexOf('\nUSER prove') > text.lastIndexOf('\nFROM '))
    assert.equal(all(text, 'VOLUME'), ['/data'])
    assert.is(all(text, 'HEALTHCHECK').length, 1)
  })
}

const isStage = (image: string, stage: string | undefined): boolean =>
  stage !== undefined && new RegExp(`^${image.replace(/\$\{\w+\}/g, '\\w+')}$`).test(stage)

test('a node has an image for each way to compute, with no Python in any', () => {
  const text = read('node.Dockerfile')
  const kinds = all(text, 'FROM').flatMap((line) => line.match(/ AS base-(\w+)$/)?.[1] ?? [])
  assert.equal(kinds.sort(), ['cpu', 'cuda', 'vulkan'])
  assert.not.match(text, /python|pip|torch/i)
  assert.match(read('coordinator.Dockerfile'), /^RUN .*prove-coordinator setup$/m)
})

test('the services of the small run name files, volumes, arguments and each other as they are', () => {
  for (const [name, { build, volumes: used = [], depends_on = {} }] of Object.entries(services)) {
    assert.ok(DOCKERFILES.includes(build.dockerfile), name)
    const args = all(read(build.dockerfile), 'ARG').map((line) => line.split('=')[0]!)
    for (const arg of Object.keys(build.args)) assert.ok(args.includes(arg), `${name}: ${arg}`)
    for (const volume of used) {
      const source = volume.split(':')[0]!
      assert.ok(source.startsWith('./') ? existsSync(`runs/docker/${source}`) : Object.hasOwn(volumes, source), volume)
    }
    for (const other of Object.keys(depends_on)) assert.ok(Object.hasOwn(services, other), other)
  }
})

test('the small run is configured so that its containers find each other, and only this host sees its dashboard', () => {
  const { coordinator, tasks } = services
  const config = readConfig('runs/docker/run.yaml')
  assert.ok(coordinator!.volumes!.includes('./run.yaml:/etc/prove/run.yaml:ro'))
  assert.match(read('coordinator.Dockerfile'), /^CMD \["start", "--config", "\/etc\/prove\/run\.yaml"\]$/m)
  assert.equal(config.announce, ['/dns4/coordinator/tcp/4001'])
  const port = config.dashboard.listen.split(':').at(-1)!
  assert.equal(coordinator!.ports, ['4001:4001', `127.0.0.1:${port}:${port}`])
  assert.match(read('coordinator.Dockerfile'), new RegExp(`fetch\\('http://127\\.0\\.0\\.1:${port}/healthz'\\)`))
  assert.ok(config.listen.some((address) => address === '/ip4/0.0.0.0/tcp/4001'))
  assert.ok(tasks!.command![0]!.includes(`--out ${config.tasks.dataset.join()} `))
  for (const path of [config.dataDir, ...config.tasks.dataset]) assert.ok(path.startsWith('/data/'), path)
})

test('the commands of the containers are those of the programs', () => {
  const optionsOf = (add: (program: Command) => void): string[] => {
    const program = new Command()
    add(program)
    return program.commands[0]!.options.flatMap(({ long }) => long ?? [])
  }
  const given = (command: readonly string[]): string[] => command.join(' ').match(/(?<= )--[a-z-]+/g) ?? []
  const [lab, join] = [optionsOf(addSynthesizeCommand), optionsOf(addJoinCommand)]
  for (const option of given(services.tasks!.command!)) assert.ok(lab.includes(option), option)
  for (const option of given(services.node!.command!)) assert.ok(join.includes(option), option)
})

test.run()

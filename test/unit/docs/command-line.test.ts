import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EXIT, exitStatusOf, runnableCommands, withCommands } from '../../../common/cli/index.js'
import { InterruptedError, UsageError } from '../../../common/errors/index.js'
import { checkout } from '../../support/checkout.js'
import { allPrograms } from '../../support/program-trees.js'

const programs = await Promise.all(
  (await allPrograms()).map(async (program) => ({ program, tree: await withCommands(program) })),
)
const commands = programs.flatMap(({ program, tree }) =>
  runnableCommands(tree).map(({ path, command }) => ({ program, path, command, name: `${program.name} ${path}` })),
)

/** The clause that says what an option or argument is. Details of a command follow a comma, a semicolon, a colon or a bracket. */
const meaningOf = (description: string): string => description.split(/[,;:(]| such as /)[0]!.trim()

test('every command has a group, examples, and a description in one style', () => {
  assert.ok(commands.length > 60)
  for (const { program, path, command, name } of commands) {
    const help = program.help[path]
    assert.ok(help?.group, `${name} has no group and examples: add a row to help.ts next to it`)
    assert.match(
      command.description(),
      /^[A-Z].{10,130}[^.]$/s,
      `${name}: one sentence with a capital, without a full stop`,
    )
    for (const argument of command.registeredArguments)
      assert.match(
        argument.description,
        /^\S.*[^.]$/s,
        `${name} <${argument.name()}>: a description without a full stop`,
      )
  }
})

test('no row of a help table is for a command that does not exist', () => {
  for (const { program } of programs)
    assert.equal(
      Object.keys(program.help).sort(),
      commands
        .filter((one) => one.program === program)
        .map(({ path }) => path)
        .sort(),
    )
})

test('every example begins with its command and uses only options that exist', () => {
  for (const { program, path, command, name } of commands)
    for (const example of program.help[path]!.examples) {
      const words = example.split(/\s+/)
      const optional = path === program.fallback || path === 'import openapi'
      const isOwn = example === name || example.startsWith(`${name} `) || (optional && words[0] === program.name)
      assert.ok(isOwn, `${name}: ${example}`)
      // The options of a program that prove-swarm runs are those of the program.
      if (program.name === 'prove-swarm' && path !== 'completion') continue
      const known = new Set(command.options.map(({ long }) => long))
      for (const word of words.filter((one) => one.startsWith('--'))) assert.ok(known.has(word), `${example}: ${word}`)
    }
})

const optionsOf = ({ command }: { readonly command: Command }): Option[] =>
  command.options.filter(({ hidden }) => !hidden)

test('an option has one meaning in all programs, and a description in one style', () => {
  const meanings = new Map<string, Map<string, string[]>>()
  for (const one of commands)
    for (const { long, description, negate } of optionsOf(one)) {
      if (!long) continue
      assert.match(description, /^\S.*[^.]$/s, `${one.name} ${long}: no description, or one with a full stop`)
      assert.not.match(description, /^(A|The) |^[A-Z][a-z]+ [a-z]+ [a-z]+.*\. /, `${one.name} ${long}`)
      const key = negate ? `${long.replace('--no-', '--')} (off)` : long
      const of = meanings.get(key) ?? new Map<string, string[]>()
      of.set(meaningOf(description), [...(of.get(meaningOf(description)) ?? []), one.name])
      meanings.set(key, of)
    }
  const several = [...meanings].filter(([, of]) => of.size > 1)
  assert.equal(
    several.map(
      ([long, of]) => `${long}: ${[...of].map(([meaning, where]) => `"${meaning}" in ${where.join(', ')}`).join('; ')}`,
    ),
    [],
  )
})

test('a wrong command line ends with status 2, and help with status 0, in every command', async () => {
  for (const { program, path, name } of commands) {
    const tree = await withCommands(program)
    for (const { command } of [{ command: tree }, ...runnableCommands(tree)])
      command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    const end = (flag: string): Promise<unknown> =>
      tree.parseAsync([...path.split(' '), flag], { from: 'user' }).then(
        () => assert.unreachable(`${name} ${flag} ran`),
        (why: unknown) => exitStatusOf(why),
      )
    assert.is(await end('--no-such-option'), EXIT.usage, name)
    assert.is(await end('--help'), EXIT.done, name)
  }
})

test('an error decides the exit status by its kind, also as the cause of another error', () => {
  const interrupted = new InterruptedError('nothing was written')
  assert.is(exitStatusOf(new Error('fetch failed', { cause: interrupted })), EXIT.interrupted)
  assert.is(exitStatusOf(interrupted), EXIT.interrupted)
  assert.is(exitStatusOf(new UsageError('usage', 'two options contradict each other')), EXIT.usage)
  assert.is(exitStatusOf(new Error('the disk is full')), EXIT.failed)
})

test('commands set no exit status as a number, and end no process', () => {
  const files = ['node', 'coordinator', 'lab', 'bin', 'servers'].flatMap((folder) =>
    readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  )
  assert.ok(files.length > 300)
  const numbers = files.filter((file) => /exitCode = \d/.test(readFileSync(join(checkout, file), 'utf8')))
  assert.equal(numbers, [])
  const ending = files.filter((file) => /process\.exit\(/.test(readFileSync(join(checkout, file), 'utf8')))
  assert.equal(ending, ['node/commands/join.ts'], 'a second Ctrl-C there ends the process')
})

test.run()

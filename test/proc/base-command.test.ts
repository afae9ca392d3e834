// needs: python

import { existsSync, readdirSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hashFile, openTokenizer } from '../../rollout/engine/index.js'
import { checkout } from '../support/checkout.js'
import { stated } from '../support/stated.js'

/** `prove-coordinator base` and `init` over the tiny model, as a user runs them. */

const TINY = join(checkout, 'test', 'fixtures', 'tiny', 'base.gguf')
const test = suite<{ folder: string }>('the command base')
test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-base-'))
    await copyFile(TINY, join(context.folder, 'published.gguf'))
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const run = (cwd: string, ...args: string[]) =>
  execa(process.execPath, [join(checkout, 'bin', 'prove-coordinator.cjs'), ...args], { cwd, reject: false })

test('a published file becomes a base, twice with the same bytes, and init proposes its format', async ({ folder }) => {
  const first = await run(folder, 'base', 'published.gguf', '--chat-template', 'compact', '--out', 'a.gguf', '--json')
  assert.is(first.exitCode, 0, first.stderr)
  const found = JSON.parse(first.stdout)
  assert.is(found.prepared.sha256, await hashFile(join(folder, 'a.gguf')))
  assert.equal(
    [found.formats[0].name, found.facts.architecture, found.facts.layers, found.template],
    ['hermes', 'qwen3', 2, 'compact'],
  )
  assert.ok(found.memory.oneSlot < found.memory.group)
  const second = await run(folder, 'base', 'published.gguf', '--chat-template', 'compact', '--out', 'b.gguf')
  assert.match(second.stdout, new RegExp(`SHA-256 +${found.prepared.sha256}`))
  const tokenizer = await openTokenizer(join(folder, 'a.gguf'))
  const compact = await readFile(join(checkout, 'models', 'templates', 'compact.jinja'), 'utf8')
  assert.is(tokenizer.chatTemplate, compact)
  await tokenizer.close()
  const made = await run(folder, 'init', '.', '--yes', '--model', 'a.gguf')
  assert.is(made.exitCode, 0, made.stderr)
  assert.match(await readFile(join(folder, 'run.yaml'), 'utf8'), /^ {2}toolCallFormat: hermes$/m)
})

test('a base without tools in its template is refused by base and init, with the command that helps', async ({
  folder,
}) => {
  const plain =
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
  await writeFile(join(folder, 'plain.jinja'), plain)
  const refused = await run(folder, 'base', 'published.gguf', '--chat-template', 'plain.jinja', '--out', 'c.gguf')
  assert.is(refused.exitCode, 2)
  assert.match(refused.stderr, /hermes: its prompts do not name the tool/)
  assert.match(refused.stderr, /prove-coordinator base \S+published.gguf --chat-template compact --out/)
  assert.not.ok(existsSync(join(folder, 'c.gguf')))
})

test('what would overwrite a file, or is no model, changes nothing and says what to do', async ({ folder }) => {
  const before = readdirSync(folder).sort()
  await writeFile(join(folder, 'text.txt'), 'no model')
  for (const [args, words] of [
    [['published.gguf', '--out', 'published.gguf'], /is the published file itself: name another file/],
    [['published.gguf', '--out', 'run.yaml'], /exists already and was not changed/],
    [['published.gguf', '--out', 'no/folder.gguf'], /there is no folder/],
    [['published.gguf', '--keep'], /are for a new file: name it with --out/],
    [
      ['published.gguf', '--chat-template', 'nothing', '--out', 'd.gguf'],
      /no such file, and this package has code-block, compact/,
    ],
    [['published.gguf', '--tool-call-format', 'granite', '--out', 'd.gguf'], /Choose a format that it fits: hermes/],
    [['published.gguf', '--out', 'd.gguf', '--python', 'no-such-python'], /trainer_unusable: no-such-python/],
    [['text.txt', '--out', 'd.gguf'], /model_refused/],
  ] as const) {
    const { exitCode, stderr } = await run(folder, 'base', ...args)
    assert.ok(exitCode !== 0, args.join(' '))
    assert.match(stderr, words)
  }
  assert.equal(readdirSync(folder).sort(), [...before, 'text.txt'].sort())
})

test.run()

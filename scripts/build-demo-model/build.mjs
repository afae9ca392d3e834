// Makes models/demo/prove-demo-base-f16.gguf from nothing, step by step. A step whose output exists is skipped, so an
// interrupted build goes on where it stopped; training steps also resume from their own checkpoints.
// Usage: npm run build && node scripts/build-demo-model/build.mjs [--seconds 3600] [--demonstrations 40000] [--threads 2] [--work DIR]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3600' },
    demonstrations: { type: 'string', default: '40000' },
    threads: { type: 'string', default: '2' },
    work: { type: 'string', default: join(root, '.cache/demo-model') },
    out: { type: 'string', default: join(root, 'models/demo/prove-demo-base-f16.gguf') },
  },
})
const work = (name) => join(values.work, name)
mkdirSync(values.work, { recursive: true })

const paths = {
  corpus: work('corpus.jsonl'),
  tokenizer: work('tokenizer'),
  pretrained: work('pretrained.pt'),
  vocabulary: work('vocabulary.gguf'),
  shards: work('shards'),
  heldOut: work('held-out'),
  finetuned: work('finetuned.pt'),
}
const template = join(here, 'chat-template.jinja')

const isWindows = process.platform === 'win32'
const venv = join(root, '.venv', isWindows ? 'Scripts/python.exe' : 'bin/python')
const python = (script, ...flags) => [existsSync(venv) ? venv : 'python3', join(here, script), ...flags]
const synthesize = (...flags) => [process.execPath, join(root, 'dist/coordinator/main.js'), 'synthesize', ...flags]

/** Runs one command; `done` is a marker written only after success, because outputs appear before they are complete. */
function step(name, command) {
  const done = work(`${name}.done`)
  if (existsSync(done)) return console.log(`${name}: done before`)
  console.log(`${name}: ${command.join(' ')}`)
  const started = Date.now()
  // Idle threads sleep instead of spinning: on a busy machine spinning takes the core from the thread that is awaited.
  const env = { ...process.env, OMP_WAIT_POLICY: 'passive' }
  const { status, error } = spawnSync(command[0], command.slice(1), { stdio: 'inherit', cwd: root, env })
  if (status !== 0) {
    console.error(`${name} failed${error ? `: ${error.message}` : ` with exit code ${status}`}`)
    process.exit(1)
  }
  mkdirSync(done)
  console.log(`${name}: ${Math.round((Date.now() - started) / 1000)} s`)
}

/** Shards land in a fresh folder, so that an interrupted run leaves no partial set behind. */
function shards(name, folder, ...flags) {
  const partial = `${folder}.partial`
  if (!existsSync(work(`${name}.done`))) rmSync(partial, { recursive: true, force: true })
  step(name, synthesize(...flags, '--shards', partial, '--model', paths.vocabulary))
  if (existsSync(partial)) {
    rmSync(folder, { recursive: true, force: true })
    renameSync(partial, folder)
  }
}

step('corpus', synthesize('--count', '10000', '--seed', '1', '--corpus', paths.corpus, '--chat-template', template))
step(
  'tokenizer',
  python('tokenizer.py', '--corpus', paths.corpus, '--chat-template', template, '--out', paths.tokenizer),
)
step('pretrain', python('pretrain.py', '--out', paths.pretrained, '--threads', values.threads))
step(
  'vocabulary',
  python(
    'export.py',
    ...['--checkpoint', paths.pretrained],
    ...['--tokenizer', paths.tokenizer],
    ...['--out', paths.vocabulary],
  ),
)
shards('shards', paths.shards, '--count', values.demonstrations, '--seed', '2')
shards('held-out', paths.heldOut, '--count', '400', '--seed', '3', '--split', 'held-out')
step(
  'finetune',
  python(
    'finetune.py',
    ...['--start', paths.pretrained],
    ...['--shards', paths.shards],
    ...['--held-out', join(paths.heldOut, 'shard-00000.safetensors')],
    ...['--out', paths.finetuned],
    ...['--seconds', values.seconds],
    ...['--threads', values.threads],
  ),
)
step(
  'export',
  python(
    'export.py',
    ...['--checkpoint', paths.finetuned],
    ...['--tokenizer', paths.tokenizer],
    ...['--out', values.out],
    ...['--name', 'prove-demo-base'],
  ),
)

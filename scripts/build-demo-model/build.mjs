// Makes models/demo/prove-demo-base-f16.gguf from nothing, step by step. The build skips a step whose output exists, so an interrupted
// build resumes where it stopped. Training also resumes from its own checkpoint.
// Usage: npm run build && node scripts/build-demo-model/build.mjs [--threads 1] [--work DIR] [--out FILE]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '1' },
    work: { type: 'string', default: join(root, '.cache/demo-model') },
    out: { type: 'string', default: join(root, 'models/demo/prove-demo-base-f16.gguf') },
  },
})
const work = (name) => join(values.work, name)
mkdirSync(values.work, { recursive: true })

const paths = {
  corpus: work('corpus.jsonl'),
  tokenizer: work('tokenizer'),
  start: work('init.pt'),
  vocabulary: work('vocabulary.gguf'),
  known: work('known'),
  last: work('last'),
  heldOut: work('held-out'),
  plateau: work('plateau.pt'),
  finetuned: work('finetuned.pt'),
}
/** The environments that the model learns well. */
const KNOWN = 'banking,calendar,email,issue_tracker'
/** The environment of which it sees few demonstrations, and only while the learning rate falls. */
const NEW = 'iot_devices'
/** Demonstrations, tokens of training and seeds. Each demonstration is read at most once. */
const PLATEAU = { tokens: '3820000', warmUp: '0.0168', sets: [100, 101], count: '6000' }
const DECAY = { tokens: '1230000', known: { seed: '104', count: '3000' }, new: { seed: '201', count: '500' } }
const template = join(here, 'chat-template.jinja')

const isWindows = process.platform === 'win32'
const venv = join(root, '.venv', isWindows ? 'Scripts/python.exe' : 'bin/python')
const python = (script, ...flags) => [existsSync(venv) ? venv : 'python3', join(here, script), ...flags]
const demonstrations = (environments, count, seed, ...flags) => [
  ...[process.execPath, join(root, 'dist/lab/main.js'), 'demonstrations'],
  ...['--environments', environments, '--count', count, '--seed', `${seed}`, ...flags],
]

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

/** Shards are written to a fresh folder, so that an interrupted run leaves no partial set behind. */
function shards(name, folder, environments, count, seed, ...flags) {
  const partial = work(`${name}.partial`)
  if (!existsSync(work(`${name}.done`))) rmSync(partial, { recursive: true, force: true })
  step(name, demonstrations(environments, count, seed, ...flags, '--shards', partial, '--model', paths.vocabulary))
  if (existsSync(partial)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(dirname(folder), { recursive: true })
    renameSync(partial, folder)
  }
}

/** One part of the training; `flags` are its start, shards, output, budget and schedule. */
function finetune(name, ...flags) {
  const heldOut = ['--held-out', join(paths.heldOut, 'shard-00000.safetensors')]
  step(name, python('finetune.py', ...heldOut, '--threads', values.threads, ...flags))
}

step('corpus', demonstrations(`${KNOWN},${NEW}`, '6000', 1, '--corpus', paths.corpus, '--chat-template', template))
step(
  'tokenizer',
  python('tokenizer.py', '--corpus', paths.corpus, '--chat-template', template, '--out', paths.tokenizer),
)
step('init', python('induction_init.py', '--out', paths.start))
step(
  'vocabulary',
  python('export.py', '--checkpoint', paths.start, '--tokenizer', paths.tokenizer, '--out', paths.vocabulary),
)
for (const seed of PLATEAU.sets) shards(`known-${seed}`, join(paths.known, `${seed}`), KNOWN, PLATEAU.count, seed)
shards('last-known', join(paths.last, 'known'), KNOWN, DECAY.known.count, DECAY.known.seed)
shards('last-new', join(paths.last, 'new'), NEW, DECAY.new.count, DECAY.new.seed)
shards('held-out', paths.heldOut, KNOWN, '600', 3, '--split', 'held-out')
finetune(
  'plateau',
  ...['--start', paths.start, '--shards', paths.known, '--out', paths.plateau],
  ...['--tokens', PLATEAU.tokens, '--warm-up', PLATEAU.warmUp, '--decay', '0'],
)
finetune(
  'decay',
  ...['--start', paths.plateau, '--shards', paths.last, '--out', paths.finetuned],
  ...['--tokens', DECAY.tokens, '--warm-up', '0', '--decay', '1'],
)
step(
  'export',
  python(
    'export.py',
    ...['--checkpoint', paths.finetuned, '--tokenizer', paths.tokenizer],
    ...['--out', values.out, '--name', 'prove-demo-base'],
  ),
)

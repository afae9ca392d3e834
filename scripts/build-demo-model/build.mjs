// Makes models/demo/prove-demo-base-f16.gguf from nothing, or continues the training of such a file, step by step. The build skips a
// step whose output exists, so an interrupted build resumes where it stopped. Training also resumes from its own checkpoint.
// Usage: npm run build && node scripts/build-demo-model/build.mjs [--from FILE] [--tokens N] [--demonstrations 6000] [--threads 1] [--work DIR] [--out FILE]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const { values } = parseArgs({
  options: {
    // A file that this script made: its tokenizer stays, and training continues on the current texts.
    from: { type: 'string' },
    tokens: { type: 'string' },
    // Per set of demonstrations.
    demonstrations: { type: 'string', default: '6000' },
    threads: { type: 'string', default: '1' },
    work: { type: 'string' },
    out: { type: 'string', default: join(root, 'models/demo/prove-demo-base-f16.gguf') },
  },
})
// A separate folder for continued training: with the outputs of the other kind in it, no step would run.
const workFolder =
  values.work ?? join(root, values.from === undefined ? '.cache/demo-model' : '.cache/demo-model-again')
const work = (name) => join(workFolder, name)
mkdirSync(workFolder, { recursive: true })

const paths = {
  corpus: work('corpus.jsonl'),
  tokenizer: work('tokenizer'),
  start: work('init.pt'),
  vocabulary: values.from ?? work('vocabulary.gguf'),
  shards: work('shards'),
  heldOut: work('held-out'),
  finetuned: work('finetuned.pt'),
}
/** Seeds of the sets of demonstrations, each small so that an interrupted build loses little; those that go on have others. */
const FROM_NOTHING = { tokens: '12500000', lr: '2e-3', sets: [100, 101, 102, 103, 104, 105, 106, 107] }
const GOING_ON = { tokens: '4000000', lr: '1e-3', sets: [200, 201] }
const plan = values.from === undefined ? FROM_NOTHING : GOING_ON
/** The worlds whose words the model learns. */
const WORLDS = 'banking,calendar,email,issue_tracker'
const template = join(here, 'chat-template.jinja')

const isWindows = process.platform === 'win32'
const venv = join(root, '.venv', isWindows ? 'Scripts/python.exe' : 'bin/python')
const python = (script, ...flags) => [existsSync(venv) ? venv : 'python3', join(here, script), ...flags]
const demonstrations = (...flags) => [
  process.execPath,
  join(root, 'dist/lab/main.js'),
  'demonstrations',
  '--environments',
  WORLDS,
  ...flags,
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

/** Shards land in a fresh folder, so that an interrupted run leaves no partial set behind. */
function shards(name, folder, ...flags) {
  const partial = `${folder}.partial`
  if (!existsSync(work(`${name}.done`))) rmSync(partial, { recursive: true, force: true })
  step(name, demonstrations(...flags, '--shards', partial, '--model', paths.vocabulary))
  if (existsSync(partial)) {
    rmSync(folder, { recursive: true, force: true })
    renameSync(partial, folder)
  }
}

if (values.from === undefined) {
  step(
    'corpus',
    demonstrations('--count', '6000', '--seed', '1', '--corpus', paths.corpus, '--chat-template', template),
  )
  step(
    'tokenizer',
    python('tokenizer.py', '--corpus', paths.corpus, '--chat-template', template, '--out', paths.tokenizer),
  )
  step('init', python('induction_init.py', '--out', paths.start))
  step(
    'vocabulary',
    python(
      'export.py',
      ...['--checkpoint', paths.start],
      ...['--tokenizer', paths.tokenizer],
      ...['--out', paths.vocabulary],
    ),
  )
} else {
  step(
    'from-gguf',
    python(
      'from_gguf.py',
      ...['--model', values.from],
      ...['--checkpoint', paths.start],
      ...['--tokenizer', paths.tokenizer],
    ),
  )
}
for (const seed of plan.sets) {
  shards(`shards-${seed}`, join(paths.shards, `${seed}`), '--count', values.demonstrations, '--seed', `${seed}`)
}
// Flaws are drawn, so nothing can foretell them: only experts' demonstrations tell what was learnt.
shards('held-out', paths.heldOut, '--count', '600', '--seed', '3', '--split', 'held-out', '--experts', '1')
step(
  'finetune',
  python(
    'finetune.py',
    ...['--start', paths.start],
    ...['--shards', paths.shards],
    ...['--held-out', join(paths.heldOut, 'shard-00000.safetensors')],
    ...['--out', paths.finetuned],
    ...['--tokens', values.tokens ?? plan.tokens],
    ...['--lr', plan.lr],
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

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
  heldOut: work('held-out'),
}
/** The environments of most demonstrations. */
const FIRST = 'banking,calendar,email,issue_tracker'
/** The environments of which the model sees few demonstrations. The demo teaches it social_media. */
const FEW = ['food_delivery', 'payments', 'social_media', 'team_chat', 'trading', 'vehicle', 'video_meeting']
/**
 * Parts of the training: their demonstrations (each is read at most once), budgets in tokens of dialogues, and schedules. The last part has
 * a new optimizer and half the rate.
 */
const PARTS = [
  {
    name: 'plateau',
    sets: [100, 101].map((seed) => ({ environments: FIRST, count: 6000, seed })),
    flags: ['--tokens', '3820000', '--warm-up', '0.0168', '--decay', '0'],
  },
  {
    name: 'decay',
    sets: [
      { environments: FIRST, count: 3000, seed: 104 },
      { environments: 'iot_devices', count: 500, seed: 201 },
    ],
    flags: ['--tokens', '1230000', '--warm-up', '0', '--decay', '1'],
  },
  {
    name: 'last',
    sets: [
      { environments: `${FIRST},iot_devices`, count: 1800, seed: 104 },
      ...FEW.map((environments) => ({ environments, count: 120, seed: 201 })),
    ],
    flags: ['--tokens', '1030000', '--warm-up', '0.02', '--decay', '0.9', '--lr', '1e-3', '--new-optimizer'],
  },
]
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

step('corpus', demonstrations(`${FIRST},iot_devices`, '6000', 1, '--corpus', paths.corpus, '--chat-template', template))
step(
  'tokenizer',
  python('tokenizer.py', '--corpus', paths.corpus, '--chat-template', template, '--out', paths.tokenizer),
)
step('init', python('induction_init.py', '--out', paths.start))
step(
  'vocabulary',
  python('export.py', '--checkpoint', paths.start, '--tokenizer', paths.tokenizer, '--out', paths.vocabulary),
)
shards('held-out', paths.heldOut, FIRST, '600', 3, '--split', 'held-out')
let checkpoint = paths.start
for (const { name, sets, flags } of PARTS) {
  for (const [i, { environments, count, seed }] of sets.entries())
    shards(`${name}-${i}`, join(work(name), `${i}`), environments, `${count}`, seed)
  const out = work(`${name}.pt`)
  step(
    name,
    python(
      'finetune.py',
      ...['--start', checkpoint, '--shards', work(name), '--out', out, '--threads', values.threads],
      ...['--held-out', join(paths.heldOut, 'shard-00000.safetensors'), ...flags],
    ),
  )
  checkpoint = out
}
step(
  'export',
  python(
    'export.py',
    ...['--checkpoint', checkpoint, '--tokenizer', paths.tokenizer],
    ...['--out', values.out, '--name', 'prove-demo-base'],
  ),
)

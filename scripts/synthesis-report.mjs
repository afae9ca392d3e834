// Compares synthesis with an older built checkout on this machine. Usage:
//   node scripts/synthesis-report.mjs --before ../older-checkout [--examples 500] [--seed 36] [--write docs/reports/synthesis.md]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    examples: { type: 'string', default: '500' },
    seed: { type: 'string', default: '36' },
    write: { type: 'string' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'prove-synthesis-report-'))
try {
  const checkouts = [...(values.before === undefined ? [] : [['before', resolve(values.before)]]), ['now', root]]
  const columns = []
  for (const [name, checkout] of checkouts) columns.push([name, await measured(name, checkout)])
  const report = described(columns)
  if (values.write === undefined) process.stdout.write(report)
  else writeFileSync(values.write, report)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Makes a data set with the program of a checkout on one thread, and measures it. */
async function measured(name, checkout) {
  const out = join(folder, name)
  const program = join(checkout, 'bin', 'prove-lab.cjs')
  const flags = ['--out', out, '--examples', values.examples, '--seed', values.seed, '--workers', '1']
  const command = ['node', program, 'synthesize', ...flags].map((part) => `'${part}'`).join(' ')
  const { status, stderr } = spawnSync('bash', ['-c', `TIMEFORMAT='processor %U %S'; time ${command}`], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0 && status !== 1) throw new Error(`${program} ended with ${status}:\n${stderr}`)
  const [, user, system] = /processor ([\d.]+) ([\d.]+)/.exec(stderr)
  const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'))
  const card = readFileSync(join(out, 'README.md'), 'utf8')
  const { tools } = JSON.parse(readFileSync(join(out, 'coverage.json'), 'utf8'))
  const counts = tools.map(({ examples }) => Object.values(examples).reduce((sum, count) => sum + count, 0))
  const kept = Number(values.examples)
  const dropped = Object.values(manifest.drops).reduce((sum, count) => sum + count, 0)
  const code = sourcesOf(join(checkout, 'tasks', 'synthesis'))
  return {
    'rejected candidates per example': (dropped / kept).toFixed(1),
    'processor time per example': `${((1000 * (Number(user) + Number(system))) / kept).toFixed(0)} ms`,
    ...Object.fromEntries(
      [...card.matchAll(/^\| ([^|]*) \| ([\d.]+ %) \| ([\d.]+ %) \|$/gm)].map(([, what, asked, got]) => [
        `${what} (${asked} asked)`,
        got,
      ]),
    ),
    'tools covered': `${counts.filter((count) => count > 0).length} of ${counts.length}`,
    'examples with the least covered tool': String(Math.min(...counts)),
    'tasks whose wrong answers earn as much as the right one': String(await blindTasks(out)),
    'lines of TypeScript in synthesis': String(code.reduce((sum, text) => sum + text.split('\n').length - 1, 0)),
  }
}

async function blindTasks(out) {
  const { openDataset, SPLITS } = await import('../dist/tasks/dataset/index.js')
  const { createSanityCheck } = await import('../dist/tasks/synthesis/index.js')
  const { loadEnvironments } = await import('../dist/servers/catalogue.js')
  const catalogue = await loadEnvironments()
  const check = createSanityCheck(catalogue)
  const { examples } = await openDataset(out, catalogue, { signal: new AbortController().signal })
  for (const split of SPLITS) for await (const example of examples(split)) check.add(example)
  return check.blind
}

const sourcesOf = (path) =>
  readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(path, name), 'utf8'))

function described(columns) {
  const names = [...new Set(columns.flatMap(([, rows]) => Object.keys(rows)))]
  const command = `node scripts/${fileURLToPath(import.meta.url).slice(dirname(fileURLToPath(import.meta.url)).length + 1)}`
  return [
    '# Synthesis, compared with an older program',
    '',
    `Both programs made ${values.examples} examples with the seed ${values.seed} on one thread of the same machine, one after the other (\`${command} --before CHECKOUT\`).`,
    '',
    `| | ${columns.map(([name]) => name).join(' | ')} |`,
    `| --- | ${columns.map(() => '---:').join(' | ')} |`,
    ...names.map((name) => `| ${name} | ${columns.map(([, rows]) => rows[name] ?? '-').join(' | ')} |`),
    '',
  ].join('\n')
}

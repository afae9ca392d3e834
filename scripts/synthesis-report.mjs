// Compares synthesis with an older built checkout on this machine. Usage:
//   node scripts/synthesis-report.mjs --before ../older-checkout [--examples 500] [--seed 36] [--write docs/reports/2026-11-synthesis.md]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript'

/** Rows of the card about the prediction of tools from words. */
const BASELINES = ['nearest clause of training', 'names and descriptions of tools']

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
  const columns = await Promise.all(checkouts.map(async ([name, checkout]) => [name, await measured(name, checkout)]))
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
  const child = spawn('bash', ['-c', `TIMEFORMAT='processor %U %S'; time ${command}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  for await (const chunk of child.stderr.setEncoding('utf8')) stderr += chunk
  const [status] = child.exitCode === null ? await once(child, 'close') : [child.exitCode]
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
      [...card.matchAll(/^\| ([^|]*) \| ([\d.]+ %) \| ([\d.]+ %) \|$/gm)]
        .filter(([, what]) => !BASELINES.includes(what))
        .map(([, what, asked, got]) => [`${what} (${asked} asked)`, got]),
    ),
    'tools covered': `${counts.filter((count) => count > 0).length} of ${counts.length}`,
    'examples with the least covered tool': String(Math.min(...counts)),
    'tasks whose wrong answers earn as much as the right one': String(await blindTasks(out)),
    'held-out tasks whose tools the nearest clause of training finds':
      new RegExp(`^\\| ${BASELINES[0]} \\| ([\\d.]+ %)`, 'm').exec(card)?.[1] ?? '-',
    'lines of TypeScript in synthesis': String(linesOf(code)),
    'non-null assertions per 1,000 lines': ((1000 * nonNullAssertions(code)) / linesOf(code)).toFixed(1),
  }
}

function linesOf(code) {
  return code.reduce((sum, text) => sum + text.split('\n').length - 1, 0)
}

function nonNullAssertions(code) {
  let found = 0
  const visit = (node) => {
    if (ts.isNonNullExpression(node)) found++
    ts.forEachChild(node, visit)
  }
  for (const text of code) visit(ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest))
  return found
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

function sourcesOf(path) {
  return readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(path, name), 'utf8'))
}

function described(columns) {
  const names = [...new Set(columns.flatMap(([, rows]) => Object.keys(rows)))]
  const command = `node scripts/${fileURLToPath(import.meta.url).slice(dirname(fileURLToPath(import.meta.url)).length + 1)}`
  return [
    '# Synthesis, November 2026',
    '',
    'The program that constructs tasks from plans, compared with the program before it.',
    '',
    `Both programs made ${values.examples} examples with the seed ${values.seed} on one thread each, at the same time on one machine (\`${command} --before CHECKOUT\`).`,
    '',
    `| | ${columns.map(([name]) => name).join(' | ')} |`,
    `| --- | ${columns.map(() => '---:').join(' | ')} |`,
    ...names.map((name) => `| ${name} | ${columns.map(([, rows]) => rows[name] ?? '-').join(' | ')} |`),
    '',
  ].join('\n')
}

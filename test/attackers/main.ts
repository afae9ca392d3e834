import '../../swarm/polyfill.js'
import Table from 'cli-table3'
import { Command, InvalidArgumentError } from 'commander'
import { openArena } from './arena.js'
import { ATTACKS } from './attack-suite.js'
import { DEMO_CALIBRATION } from './calibration.js'
import { type CampaignReport, runCampaign } from './campaign.js'
import { economics, economicsMarkdown, economicsTable } from './economics.js'

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > 100_000) throw new InvalidArgumentError('Give a whole number.')
  return value
}

const attackName = (text: string, names: readonly string[] = []): readonly string[] => {
  if (!ATTACKS.some(({ name }) => name === text))
    throw new InvalidArgumentError(`Choose from ${ATTACKS.map(({ name }) => name).join(', ')}.`)
  return [...names, text]
}

interface Options {
  readonly only?: readonly string[]
  readonly tries: number
  readonly honest: number
  readonly seed: number
  readonly calibration: string
  readonly json: boolean
  readonly economics: boolean | 'markdown'
}

const options = new Command('attackers')
  .description(
    'Carry out every attack of docs/explain/attackers.md against a coordinator and volunteers on this machine',
  )
  .option('--only <name>', 'only this attack; may be repeated', attackName)
  .option('--tries <number>', 'tries of each attack', count, 3)
  .option('--honest <number>', 'honest groups to judge in all, victims of attacks included', count, 4)
  .option('--seed <number>', 'fixes the keys of all participants', count, 1)
  .option('--calibration <file>', 'what audits judge the demo model by', DEMO_CALIBRATION)
  .option(
    '--economics [form]',
    'attack nobody; say what audits let through, as a table for the terminal or in markdown',
    false,
  )
  .option('--json', 'print one JSON object instead of a table', false)
  .parse()
  .opts<Options>()

function table({ attacks, honest }: CampaignReport): string {
  const rows = new Table({
    head: ['attack', 'provable', 'caught', 'of', 'stopped at', 'CPU ms per try'],
    style: { head: [], border: [] },
  })
  for (const { name, provable, tries, caught, check, costMs } of attacks)
    rows.push([name, provable ? 'yes' : 'no', caught, tries, check, costMs])
  return `${rows.toString()}\nhonest groups: ${honest.groups}, refused: ${honest.refused}`
}

/** What is seeded is not the keys here but the lottery and the habits: the document has those of seed 1. */
function printEconomics(): void {
  const rows = economics(options.seed)
  if (options.json) process.stdout.write(`${JSON.stringify(rows)}\n`)
  else process.stdout.write(`${options.economics === 'markdown' ? economicsMarkdown(rows) : economicsTable(rows)}\n`)
}

async function attack(): Promise<void> {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort(new Error('stopped')))
  const arena = await openArena(options)
  try {
    const report = await runCampaign(arena, {
      attacks: ATTACKS.filter(({ name }) => options.only?.includes(name) ?? true),
      tries: options.tries,
      honest: options.honest,
      signal: interrupted.signal,
      onAttempt: ({ name }, { caught, place, code, costMs, detail }, i) =>
        process.stderr.write(
          `${name} ${i + 1}: ${caught ? 'caught' : 'MISSED'} at ${place ?? '-'}, ${code ?? '-'}, ${costMs.toFixed(1)} ms: ${detail}\n`,
        ),
      onHonest: (done) => process.stderr.write(`${done} honest groups\n`),
    })
    for (const why of arena.honest.refused) process.stderr.write(`an honest group was refused: ${why}\n`)
    process.stdout.write(`${options.json ? JSON.stringify(report) : table(report)}\n`)
    if (report.attacks.some(({ provable, caught, tries }) => provable && caught < tries)) process.exitCode = 1
  } finally {
    await arena.close()
  }
}

if (options.economics === false) await attack()
else printEconomics()

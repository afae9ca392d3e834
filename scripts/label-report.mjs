// Prints how the dependency graph agrees with the labels of others (test/fixtures/labels). Usage: node scripts/label-report.mjs
import { labelAgreement } from '../dist/test/support/label-agreement.js'

const { workflows, steps, functions, pairs, dependent, needed, missed, added } = labelAgreement()
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`
const row = (name, { labelled, derived, both }) =>
  `| ${name} | ${labelled} | ${derived} | ${both} | ${percent(both, derived)} | ${percent(both, labelled)} |`

process.stdout.write(`${workflows} workflows with ${steps} steps

| edges between | labels | graph | both | precision | recall |
| --- | ---: | ---: | ---: | ---: | ---: |
${row('functions', functions)}
${row('steps of a workflow', pairs)}
${row('the same, without labels for texts, dates and optional arguments', needed)}
${row('a step and any earlier one', dependent)}

| difference | edges between steps |
| --- | ---: |
${Object.entries(missed)
  .map(([reason, count]) => `| only the labels have it: ${reason} | ${count} |`)
  .join('\n')}
${Object.entries(added)
  .map(([reason, count]) => `| only the graph has it: ${reason} | ${count} |`)
  .join('\n')}
`)

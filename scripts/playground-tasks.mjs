// Chooses the playground's tasks from a data set. Needed after a change of environments: `prove-lab synthesize --out made --examples 600`,
// then `node scripts/playground-tasks.mjs made`, then `node scripts/attack-fixtures.mjs`.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

/** Tasks of one world alone, by how many calls they take, and of those without any. */
const OF_EACH_ENVIRONMENT = [3, 2, 4]
const OF_EACH_OTHER_KIND = 3

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node scripts/playground-tasks.mjs FOLDER, a data set of all worlds')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
build()
const { readTasks } = await import('../dist/servers/episodes/index.js')
const { CATALOGUE } = await import('../dist/servers/catalogue.js')
const tasks = await readTasks(folder, CATALOGUE, AbortSignal.timeout(60_000))
// Whoever plays makes calls and says little: tasks whose users wait for a question, or bring tools, are for models.
const isPlain = (task) => task.questions === undefined && task.toolset.every(({ from }) => from === undefined)
const made = [...tasks.range('train', 0, tasks.count('train'))].filter(isPlain)

const chosen = new Set()
const choose = (fits) => {
  const task = made.find((one) => !chosen.has(one) && fits(one))
  if (task) chosen.add(task)
  return task !== undefined
}
const missing = []
for (const environment of CATALOGUE.keys()) {
  for (const calls of OF_EACH_ENVIRONMENT) {
    const isOwn = (task) =>
      task.kind === 'multi-turn' && task.environments.length === 1 && task.environments[0].environment === environment
    if (!choose((task) => isOwn(task) && task.groundTruth.length === calls) && !choose(isOwn)) missing.push(environment)
  }
}
for (const kind of ['clarification', 'abstention'])
  for (let left = OF_EACH_OTHER_KIND; left > 0; left--)
    if (!choose((task) => task.kind === kind && task.groundTruth.length === 0)) missing.push(kind)
if (missing.length > 0) {
  console.error(`too few tasks of ${[...new Set(missing)].join(', ')}: make a larger data set`)
  process.exit(1)
}
writeFileSync(
  `${root}servers/episodes/playground/tasks.jsonl`,
  [...chosen].map((task) => `${JSON.stringify(task)}\n`).join(''),
)
console.log(`${chosen.size} tasks`)

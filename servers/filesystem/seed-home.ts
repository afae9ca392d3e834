import type { SeededRandom } from '../kernel/random.js'
import type { Member } from './schema.js'
import type { Builder, Staff } from './seed-builder.js'
import * as texts from './seed-text.js'
import * as words from './words.js'

const two = (number: number): string => String(number).padStart(2, '0')

/**
 * Creates the current user's home directory. Some of the user's files and directories are read-only, one file is locked, and
 * some links lead nowhere.
 */
export function seedHome(builder: Builder, random: SeededRandom, staff: Staff, cities: readonly string[]): void {
  const home = `/home/${staff.me}`
  const projects = random.sample(words.PROJECTS, 4)
  builder.directory(home, mineOf(staff), 0o750)
  seedNotes(builder, random, staff, `${home}/notes`)
  seedProjects(builder, random, staff, `${home}/projects`, projects)
  seedLogs(builder, random, staff, `${home}/logs`)
  seedInvoices(builder, random, staff, `${home}/invoices`)
  seedConfig(builder, random, staff, `${home}/config`)
  seedPhotos(builder, random, staff, `${home}/photos`, cities)
  seedDownloads(builder, random, staff, `${home}/downloads`, projects)
  seedShortcuts(builder, staff, home, projects)
}

const mineOf = ({ me }: Staff) => ({ owner: me, group: 'staff' })

function seedNotes(builder: Builder, random: SeededRandom, staff: Staff, notes: string): void {
  const mine = mineOf(staff)
  builder.directory(notes, mine)
  builder.text(`${notes}/todo.txt`, mine, texts.tasks(random), 0o644, random.int(1, 5))
  builder.text(`${notes}/todo-old.txt`, mine, texts.tasks(random))
  builder.text(`${notes}/ideas.txt`, mine, texts.list(random, words.TOPICS))
  builder.text(`${notes}/shopping.txt`, mine, texts.shoppingList(random))
  builder.text(`${notes}/packing-list.txt`, mine, texts.list(random, words.BELONGINGS))
  builder.text(`${notes}/reading-list.txt`, mine, texts.list(random, words.BOOKS))
  builder.text(`${notes}/diary.txt`, mine, texts.list(random, words.LINES), 0o600)
  builder.directory(`${notes}/meetings`, mine)
  for (const days of random.sample([3, 6, 11, 17, 24, 33, 41], random.int(4, 5)))
    builder.text(
      `${notes}/meetings/minutes-${builder.date(days).slice(5)}.txt`,
      mine,
      texts.minutes(random, random.pick(words.TOPICS), builder.date(days)),
      0o644,
      days,
    )
  builder.directory(`${notes}/recipes`, mine)
  for (const recipe of random.sample(Object.keys(words.RECIPES), random.int(3, 5)))
    builder.text(`${notes}/recipes/${recipe}.txt`, mine, texts.recipe(random, recipe))
}

function seedProjects(
  builder: Builder,
  random: SeededRandom,
  staff: Staff,
  root: string,
  projects: readonly string[],
): void {
  const mine = mineOf(staff)
  builder.directory(root, mine)
  for (const [i, project] of projects.entries()) {
    const path = `${root}/${project}`
    builder.directory(path, mine, i === 0 ? 0o775 : 0o755)
    builder.text(`${path}/readme.txt`, mine, texts.readme(random, project))
    const plan = texts.plan(random, project)
    builder.text(`${path}/plan.txt`, mine, plan)
    if (i < 2)
      builder.text(`${path}/plan-old.txt`, mine, plan.replace('2026-03', '2026-02').replace(/Lead: .*/, 'Lead: open'))
    builder.text(`${path}/tasks.txt`, mine, texts.tasks(random))
    builder.text(`${path}/budget.csv`, mine, texts.budget(random))
    if (i === 1)
      builder.text(`${path}/budget.csv.lock`, mine, `opened by ${staff.me} on ${builder.date(2)}\n`, 0o644, 2)
    if (i !== 2) {
      builder.directory(`${path}/src`, mine)
      builder.text(`${path}/src/main.py`, mine, texts.script(random), 0o755)
      builder.text(`${path}/src/helper.py`, mine, texts.script(random))
    }
    if (i !== 3) {
      builder.directory(`${path}/docs`, mine)
      builder.text(`${path}/docs/outline.txt`, mine, texts.list(random, words.TOPICS))
      builder.text(`${path}/docs/minutes.txt`, mine, texts.minutes(random, random.pick(words.TOPICS), builder.date(9)))
    }
    if (i >= 2) builder.directory(`${path}/drafts`, mine)
  }
  builder.link(`${root}/${projects[3]}/docs`, mine, `../${projects[0]}/docs`)
}

function seedLogs(builder: Builder, random: SeededRandom, staff: Staff, logs: string): void {
  const mine = mineOf(staff)
  builder.directory(logs, mine)
  for (const days of [1, 2, 3, 4, 5])
    builder.text(
      `${logs}/app-${builder.date(days).slice(5)}.log`,
      mine,
      texts.log(random, builder.date(days)),
      0o640,
      days,
    )
  for (const name of ['sync', 'backup', 'mail'])
    builder.text(`${logs}/${name}.log`, mine, texts.log(random, builder.date(random.int(6, 40))), 0o640)
}

function seedInvoices(builder: Builder, random: SeededRandom, staff: Staff, invoices: string): void {
  const mine = mineOf(staff)
  builder.directory(invoices, mine)
  const companies = random.sample(words.COMPANIES, 7)
  let number = random.int(104, 460) * 10
  for (const [year, oldest] of [
    ['2025', 400],
    ['2026', 58],
  ] as const) {
    builder.directory(`${invoices}/${year}`, mine)
    // The closed year is read-only, but it is the user's own: the permissions can be changed.
    if (year === '2025') builder.nodes[builder.nodes.length - 1] = { ...builder.nodes.at(-1)!, mode: 0o555 }
    for (let i = 0; i < random.int(5, 6); i++) {
      const company = random.pick(companies)
      const days = year === '2025' ? random.int(70, oldest - 1) : random.int(2, oldest)
      number += random.int(1, 9)
      const name = `inv-${number}-${company}.txt`
      builder.text(
        `${invoices}/${year}/${name}`,
        mine,
        texts.invoice(random, number, company, builder.date(days)),
        0o640,
        days,
      )
    }
  }
}

function seedConfig(builder: Builder, random: SeededRandom, staff: Staff, config: string): void {
  const mine = mineOf(staff)
  builder.directory(config, mine, 0o700)
  for (const name of ['editor', 'mail', 'network', 'calendar', 'printer'])
    builder.text(`${config}/${name}.ini`, mine, texts.settings(random, name), 0o600)
  builder.text(`${config}/backup.ini`, mine, texts.settings(random, 'backup'), 0o444)
  builder.text(`${config}/backup-old.ini`, mine, texts.settings(random, 'backup'), 0o444)
}

function seedPhotos(
  builder: Builder,
  random: SeededRandom,
  staff: Staff,
  photos: string,
  cities: readonly string[],
): void {
  const mine = mineOf(staff)
  builder.directory(photos, mine)
  let number = random.int(110, 600)
  for (const city of cities) {
    const album = `${photos}/${city.toLowerCase()}`
    const days = random.int(20, 350)
    builder.directory(album, mine)
    for (let i = 0; i < random.int(3, 4); i++) {
      number += random.int(1, 12)
      builder.photo(`${album}/img-${number}.jpg`, mine, city, Math.max(3, days - i))
    }
  }
  builder.text(`${photos}/albums.txt`, mine, `${cities.join('\n')}\n`)
}

function seedDownloads(
  builder: Builder,
  random: SeededRandom,
  staff: Staff,
  downloads: string,
  projects: readonly string[],
): void {
  const mine = mineOf(staff)
  builder.directory(downloads, mine)
  const original = builder.nodes.find(({ path }) => path.endsWith(`/${projects[0]}/readme.txt`))!
  builder.text(`${downloads}/readme-copy.txt`, mine, original.text)
  builder.text(`${downloads}/${random.pick(words.COMPANIES)}-offer.txt`, mine, texts.list(random, words.COSTS))
  builder.text(`${downloads}/prices-${two(random.int(1, 12))}.csv`, mine, texts.budget(random))
  builder.directory(`${downloads}/unsorted`, mine)
  const [stranger, copied] = random.sample(
    words.PROJECTS.filter((name) => !projects.includes(name)),
    2,
  ) as [string, string]
  builder.archive(`${downloads}/${stranger}.zip`, mine, members(random, stranger))
  builder.archive(`${downloads}/${copied}-2025.zip`, mine, members(random, copied))
  builder.archive(`${downloads}/${projects[3]}-backup.zip`, mine, members(random, projects[3]!))
}

function members(random: SeededRandom, project: string): Member[] {
  const member = (path: string, text: string): Member => ({
    path: `${project}/${path}`,
    kind: 'text',
    mode: 0o644,
    bytes: Buffer.byteLength(text),
    text,
    photo: null,
  })
  return [
    member('readme.txt', texts.readme(random, project)),
    member('plan.txt', texts.plan(random, project)),
    ...(random.chance(0.5) ? [member('budget.csv', texts.budget(random))] : []),
    member('src/main.py', texts.script(random)),
  ]
}

function seedShortcuts(builder: Builder, staff: Staff, home: string, projects: readonly string[]): void {
  const mine = mineOf(staff)
  builder.directory(`${home}/shortcuts`, mine)
  const at = (name: string): string => `${home}/shortcuts/${name}`
  builder.link(at('current-project'), mine, `../projects/${projects[0]}`)
  builder.link(at('todo'), mine, `${home}/notes/todo.txt`)
  builder.link(at('team'), mine, `/shared/${staff.teams[0]}`)
  builder.link(at('last-year'), mine, '../invoices/2024')
  builder.link(at('plan-2024'), mine, `${home}/notes/plan-2024.txt`)
  builder.link(at('mirror'), mine, 'reflection')
  builder.link(at('reflection'), mine, 'mirror')
  builder.link(`${home}/latest.log`, mine, `logs/app-${builder.date(1).slice(5)}.log`)
}

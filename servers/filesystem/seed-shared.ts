import type { SeededRandom } from '../kernel/random.js'
import { type Builder, ROOT, type Staff } from './seed-builder.js'
import * as texts from './seed-text.js'
import * as words from './words.js'

/** Colleagues' homes: two can be looked at but for a private directory, the third not at all. */
export function seedOthers(builder: Builder, random: SeededRandom, { colleagues }: Staff): void {
  for (const [i, owner] of colleagues.entries()) {
    const home = `/home/${owner}`
    const theirs = { owner, group: 'staff' }
    builder.directory(home, theirs, i === 2 ? 0o700 : 0o755)
    builder.directory(`${home}/notes`, theirs)
    builder.text(`${home}/notes/todo.txt`, theirs, texts.tasks(random))
    builder.text(
      `${home}/notes/${random.pick(['ideas', 'wishes', 'plans'])}.txt`,
      theirs,
      texts.list(random, words.TOPICS),
    )
    builder.text(`${home}/notes/salary.txt`, theirs, texts.budget(random), 0o600)
    builder.directory(`${home}/projects`, theirs)
    const project = random.pick(words.PROJECTS)
    builder.directory(`${home}/projects/${project}`, theirs)
    builder.text(`${home}/projects/${project}/readme.txt`, theirs, texts.readme(random, project))
    builder.text(`${home}/projects/${project}/plan.txt`, theirs, texts.plan(random, project))
    builder.directory(`${home}/private`, theirs, 0o700)
    builder.text(`${home}/private/diary.txt`, theirs, texts.list(random, words.LINES), 0o600)
  }
}

const POLICIES = ['travel', 'expenses', 'security', 'visitors', 'remote-work']

/** Creates the entries that several users share: policies to read, a sticky drop, team directories, an archive of old years, and /tmp. */
export function seedShared(builder: Builder, random: SeededRandom, { me, colleagues, teams }: Staff): void {
  builder.directory('/shared', ROOT)
  builder.directory('/shared/policies', ROOT)
  for (const subject of POLICIES)
    builder.text(`/shared/policies/${subject}.txt`, ROOT, texts.domainRules(random, subject.replace('-', ' ')))
  builder.link('/shared/rules', ROOT, 'policies')
  builder.link('/shared/menu.txt', ROOT, 'canteen/menu.txt')

  builder.directory('/shared/drop', ROOT, 0o777, true)
  for (const [i, owner] of [me, ...colleagues].entries()) {
    const theirs = { owner, group: 'staff' }
    const name = `${owner}-${['slides', 'figures', 'list', 'offer'][i]}.txt`
    builder.text(
      `/shared/drop/${name}`,
      theirs,
      texts.list(random, i % 2 ? words.COSTS : words.TOPICS),
      i === 1 ? 0o666 : 0o644,
    )
    if (i === 2)
      builder.text(`/shared/drop/${name}.lock`, theirs, `opened by ${owner} on ${builder.date(0)}\n`, 0o644, 1)
  }

  for (const [i, team] of teams.entries()) {
    const place = `/shared/${team}`
    const member = i === 2 ? colleagues[2]! : colleagues[i]!
    const ours = (owner: string) => ({ owner, group: team })
    builder.directory(place, ours('root'), i === 2 ? 0o750 : 0o770)
    builder.text(`${place}/rota.csv`, ours(member), texts.budget(random).replace('item,amount', 'item,hours'), 0o664)
    builder.text(`${place}/goals.txt`, ours(member), texts.list(random, words.TOPICS), 0o644)
    builder.text(`${place}/contacts.txt`, ours(i === 2 ? member : me), texts.list(random, words.COMPANIES), 0o664)
    builder.directory(`${place}/meetings`, ours(member), 0o775)
    for (const days of random.sample([8, 15, 22, 29], 2))
      builder.text(
        `${place}/meetings/minutes-${builder.date(days).slice(5)}.txt`,
        ours(member),
        texts.minutes(random, random.pick(words.TOPICS), builder.date(days)),
        0o664,
        days,
      )
    builder.directory(`${place}/inbox`, ours(member), 0o755)
    builder.text(`${place}/inbox/request.txt`, ours(member), texts.tasks(random))
  }

  builder.directory('/archive', ROOT)
  for (const year of ['2023', '2024']) {
    builder.directory(`/archive/${year}`, ROOT, 0o555)
    builder.text(`/archive/${year}/report.txt`, ROOT, texts.plan(random, random.pick(words.PROJECTS)), 0o444, 399)
    builder.text(`/archive/${year}/accounts.csv`, ROOT, texts.budget(random), 0o444, 399)
  }
  builder.directory('/tmp', ROOT, 0o777, true)
  builder.text('/tmp/scratch.txt', { owner: me, group: 'staff' }, texts.shoppingList(random), 0o644, 1)
  builder.directory('/tmp/work', { owner: me, group: 'staff' })
  builder.text('/tmp/session.log', ROOT, texts.log(random, builder.date(1)), 0o644, 1)
}

import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { isWithin } from './paths.js'
import type { FilesystemTables, Node, TrashItem, User } from './schema.js'
import { Builder, ROOT, type Staff } from './seed-builder.js'
import { seedHome } from './seed-home.js'
import { seedOthers, seedShared } from './seed-shared.js'
import * as words from './words.js'

/** One user's home with projects, notes, logs, invoices and photos, three colleagues' homes and the shared places. */
export function seedFilesystem({ random, start }: SeedContext): SeedRows<FilesystemTables> {
  const today = start.slice(0, 10)
  const [me, ...colleagues] = random.sample(words.USERS, 4) as [string, ...string[]]
  const [first, second, closed] = random.sample(words.TEAMS, 3) as [string, string, string]
  const staff: Staff = { me, colleagues, teams: [first, second, closed] }
  const cities = random.sample(CITIES, 3).map(({ city }) => city)
  const builder = new Builder(random, today)
  builder.directory('/', ROOT)
  builder.directory('/home', ROOT)
  seedHome(builder, random, staff, cities)
  seedOthers(builder, random, staff)
  seedShared(builder, random, staff)
  const trash = seedTrash(random, staff, today)
  return {
    nodes: builder.nodes,
    trash,
    users: seedUsers(random, staff, [...builder.nodes, ...trash.flatMap(({ content }) => content)]),
    session: [{ session: 'current', user: me, directory: `/home/${me}` }],
  }
}

/** A few things of the user's own that were thrown away on different days; one is a directory. */
function seedTrash(random: SeededRandom, { me }: Staff, today: string): TrashItem[] {
  const home = `/home/${me}`
  const mine = { owner: me, group: 'staff' }
  const line = (): string => `${random.pick(words.LINES)}\n`
  const [a, b, c] = random.sample(words.THROWN_NAMES, 3) as [string, string, string]
  const thrown = new Builder(random, today)
  thrown.text(`${home}/notes/old-${a}`, mine, line() + line())
  thrown.text(`${home}/downloads/old-${b}`, mine, line())
  thrown.text(
    `${home}/notes/recipes/old-${random.pick(Object.keys(words.RECIPES))}.txt`,
    mine,
    `${random.pick(words.GROCERIES)}\n`,
  )
  thrown.photo(`${home}/photos/blurred-${random.int(100, 999)}.jpg`, mine, random.pick(CITIES).city, 60)
  const project = `${home}/projects/${random.pick(words.PROJECTS)}-old`
  thrown.directory(project, mine)
  thrown.text(`${project}/${c}`, mine, line() + line() + line())
  thrown.text(`${project}/readme.txt`, mine, line())
  const roots = random.shuffle(thrown.nodes.filter(({ parent }) => parent !== project))
  const days = random.sample([1, 3, 6, 10, 15, 21, 28, 40], roots.length)
  const numbers = random.sample(
    Array.from({ length: 89 }, (_, i) => i + 10),
    roots.length,
  )
  return roots.map(({ path: root, name, parent: origin }, i) => {
    const content = thrown.nodes
      .filter(({ path }) => isWithin(path, root))
      .map(({ parent: _, ...node }) => ({ ...node, path: node.path.slice(origin.length + 1) }))
    return {
      trash_item: `trash-${numbers[i]}`,
      name,
      origin,
      trashed: `${thrown.date(days[i]!)} ${random.int(10, 18)}:${random.int(10, 59)}`,
      bytes: content.reduce((sum, { bytes }) => sum + bytes, 0),
      content,
    }
  })
}

/** Users with what they own; the quota leaves room for two or three photos and some thirty files. */
function seedUsers(
  random: SeededRandom,
  { me, colleagues, teams }: Staff,
  owned: readonly Pick<Node, 'owner' | 'bytes'>[],
): User[] {
  const groups: Record<string, string[]> = {
    [me]: ['staff', teams[0], teams[1]],
    root: ['root'],
  }
  for (const [i, name] of colleagues.entries()) groups[name] = ['staff', teams[i % 3]!]
  return Object.entries(groups).map(([user, names]) => {
    const own = owned.filter(({ owner }) => owner === user)
    const used = own.reduce((sum, { bytes }) => sum + bytes, 0)
    return {
      user,
      home: user === 'root' ? '/' : `/home/${user}`,
      groups: names,
      quota_bytes: (Math.floor(used / 1_000_000) + random.int(6, 9)) * 1_000_000,
      quota_entries: Math.ceil((own.length + random.int(26, 36)) / 5) * 5,
      used_bytes: used,
      used_entries: own.length,
    }
  })
}

import type { Node } from './schema.js'

/**
 * Subject matter of a file, as users see the file. The matter determines the text that users may write into the file, the
 * names of the file, and the directories in which the file belongs.
 */
export type Matter =
  | 'photo'
  | 'archive'
  | 'log'
  | 'settings'
  | 'script'
  | 'table'
  | 'invoice'
  | 'recipe'
  | 'policy'
  | 'tasks'
  | 'groceries'
  | 'belongings'
  | 'books'
  | 'minutes'
  | 'plan'
  | 'readme'
  | 'topics'
  | 'costs'
  | 'companies'
  | 'note'

/** By path, the first that fits. */
const BY_PATH: readonly (readonly [RegExp, Matter])[] = [
  [/\.log$/, 'log'],
  [/\.ini$/, 'settings'],
  [/\.py$/, 'script'],
  [/\.csv$/, 'table'],
  [/\/inv-[^/]*$/, 'invoice'],
  [/\/recipes\/[^/]*$/, 'recipe'],
  [/\/policies\/[^/]*$/, 'policy'],
  [/\/(todo|tasks|request)[^/]*$/, 'tasks'],
  [/\/(shopping|scratch)[^/]*$/, 'groceries'],
  [/\/packing-list[^/]*$/, 'belongings'],
  [/\/reading-list[^/]*$/, 'books'],
  [/\/minutes[^/]*$/, 'minutes'],
  [/\/(plan|report)[^/]*$/, 'plan'],
  [/\/readme[^/]*$/, 'readme'],
  [/\/(ideas|outline|goals|wishes)[^/]*$|-(slides|list)\.txt$/, 'topics'],
  [/-(offer|figures)\.txt$/, 'costs'],
  [/\/contacts\.txt$/, 'companies'],
]

export function matterOf({ kind, path }: Pick<Node, 'kind' | 'path'>): Matter {
  if (kind === 'photo' || kind === 'archive') return kind
  return BY_PATH.find(([fits]) => fits.test(path))?.[1] ?? 'note'
}

/** Purpose of a directory. */
export type Purpose =
  | 'home'
  | 'notes'
  | 'meetings'
  | 'recipes'
  | 'projects'
  | 'project'
  | 'docs'
  | 'drafts'
  | 'src'
  | 'logs'
  | 'invoices'
  | 'config'
  | 'photos'
  | 'downloads'
  | 'shortcuts'
  | 'team'
  | 'inbox'
  | 'drop'
  | 'temporary'
  | 'system'

const NAMED: Readonly<Record<string, Purpose>> = {
  notes: 'notes',
  meetings: 'meetings',
  recipes: 'recipes',
  projects: 'projects',
  docs: 'docs',
  drafts: 'drafts',
  src: 'src',
  logs: 'logs',
  invoices: 'invoices',
  config: 'config',
  photos: 'photos',
  downloads: 'downloads',
  shortcuts: 'shortcuts',
  inbox: 'inbox',
  drop: 'drop',
  tmp: 'temporary',
}

/** Returns the purpose of a directory, given by the name of the directory or of its nearest parent with a known name. */
export function purposeOf({ path }: Pick<Node, 'path'>): Purpose {
  const names = path.split('/').slice(1)
  if (/^\/(archive|shared\/policies)(\/|$)/.test(path)) return 'system'
  for (let depth = names.length - 1; depth >= 0; depth--) {
    const purpose = NAMED[names[depth]!]
    if (purpose === 'projects' && depth < names.length - 1) return 'project'
    if (purpose) return purpose
  }
  if (names[0] === 'home' && names.length > 1) return 'home'
  return names[0] === 'shared' && names.length > 1 ? 'team' : 'system'
}

/** Whether the directory is the one that its purpose is named after, such as `notes` itself and nothing within. */
export const isMain = ({ path, name }: Pick<Node, 'path' | 'name'>): boolean =>
  path.split('/').length <= 3 || (NAMED[name] !== undefined && path.split('/').length <= 4)

const OFFICE: readonly Purpose[] = ['notes', 'project', 'docs', 'drafts', 'team', 'inbox', 'drop', 'downloads']

/** Where people keep, or put for others, what is not kept with the rest of its office papers. */
const PLACES: Readonly<Partial<Record<Matter, readonly Purpose[]>>> = {
  photo: ['photos', 'downloads', 'drop', 'team'],
  archive: ['downloads', 'drop', 'team', 'temporary', 'home', 'project'],
  log: ['logs', 'drop', 'temporary'],
  settings: ['config', 'downloads', 'drop', 'temporary'],
  script: ['src', 'project', 'downloads', 'drop', 'temporary'],
  invoice: ['invoices', 'team', 'drop', 'downloads'],
  recipe: ['recipes', 'notes', 'drop', 'downloads'],
  groceries: ['notes', 'home', 'drop'],
  belongings: ['notes', 'home', 'drop'],
  books: ['notes', 'home', 'drop', 'team'],
  minutes: ['meetings', ...OFFICE],
  note: ['home', ...OFFICE],
}

export const belongsIn = (file: Pick<Node, 'kind' | 'path'>, directory: Pick<Node, 'path'>): boolean =>
  !areOfTwoProjects(file, directory) && (PLACES[matterOf(file)] ?? OFFICE).includes(purposeOf(directory))

/** Nobody puts what belongs to one project into another. */
function areOfTwoProjects(one: Pick<Node, 'path'>, other: Pick<Node, 'path'>): boolean {
  const [first, second] = [one, other].map(({ path }) => /\/projects\/([^/]+)/.exec(path)?.[1])
  return first !== undefined && second !== undefined && first !== second
}

/** Where a directory of a purpose goes as a whole, or a copy of it. */
const SHELVES: Readonly<Record<Purpose, readonly Purpose[]>> = {
  home: [],
  notes: ['drop', 'temporary'],
  meetings: ['project', 'docs', 'team', 'drop', 'notes'],
  recipes: ['notes', 'drop'],
  projects: [],
  project: ['projects', 'team', 'drop', 'temporary'],
  docs: ['project', 'team', 'drop', 'drafts'],
  drafts: ['project', 'team', 'drop', 'docs'],
  src: ['project', 'drop', 'temporary'],
  logs: ['temporary', 'downloads', 'drop'],
  invoices: ['team', 'drop', 'temporary'],
  config: ['temporary', 'downloads'],
  photos: ['team', 'drop', 'downloads'],
  downloads: ['temporary', 'drop', 'home'],
  shortcuts: ['temporary'],
  team: ['notes', 'project', 'docs', 'home'],
  inbox: ['notes', 'project', 'docs', 'home'],
  drop: ['downloads', 'notes'],
  temporary: ['downloads', 'projects', 'home'],
  system: ['downloads', 'temporary', 'notes'],
}

export const shelvesIn = (directory: Pick<Node, 'path'>, place: Pick<Node, 'path'>): boolean =>
  !areOfTwoProjects(directory, place) && SHELVES[purposeOf(directory)].includes(purposeOf(place))

// The order of the documentation: the sidebar of the site shows it, and `scripts/docs-links.mjs` checks that every page has a place.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const docs = fileURLToPath(new URL('..', import.meta.url))

const CATALOGUE = 'environments/catalogue'
const REPORTS = 'reports'

/** Names of the pages of a folder, except its index. */
const inFolder = (folder) =>
  readdirSync(`${docs}${folder}`)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => `${folder}/${name}`)
    .sort()

/** Groups of pages by what a reader wants to do. A page is a path below `docs/`. */
export const GROUPS = [
  {
    text: 'Start',
    pages: [
      'start/index.md',
      'start/join.md',
      'start/run.md',
      'start/model.md',
      'start/environment.md',
      'start/trl.md',
      'start/tour.md',
      'status.md',
    ],
  },
  { text: 'Volunteer', pages: ['volunteer/index.md', 'volunteer/protection.md', 'volunteer/verify-a-group.md'] },
  {
    text: 'Operate',
    pages: [
      'operate/start-a-run.md',
      'operate/observe.md',
      'operate/steer.md',
      'operate/backup-and-repair.md',
      'operate/containers.md',
      'operate/sizing.md',
      'operate/real-models.md',
      'operate/several-machines.md',
      'operate/calibrate.md',
      'operate/paraphraser.md',
    ],
  },
  {
    text: 'Use a model',
    pages: [
      'use-a-model/pull.md',
      'use-a-model/run.md',
      'use-a-model/evaluate.md',
      'use-a-model/bfcl.md',
      'use-a-model/verify-a-run.md',
    ],
  },
  {
    text: 'Environments',
    pages: ['environments/write.md', 'environments/speech.md', 'environments/serve.md', 'environments/playground.md'],
    nested: { index: `${CATALOGUE}/index.md`, pages: inFolder(CATALOGUE) },
  },
  { text: 'Other trainers', pages: ['other-trainers/episodes.md'] },
  {
    text: 'Explain',
    pages: [
      'explain/architecture.md',
      'explain/verification.md',
      'explain/reward.md',
      'explain/synthesis.md',
      'explain/attackers.md',
      'explain/availability.md',
      'explain/scale.md',
    ],
  },
  {
    text: 'Reference',
    pages: [
      'reference/commands.md',
      'reference/exit-codes.md',
      'reference/configuration.md',
      'reference/events.md',
      'reference/metrics.md',
      'reference/verdicts.md',
      'reference/protocol.md',
      'reference/limits.md',
      'reference/trainer.md',
      'reference/environment-kit.md',
      'reference/dataset-files.md',
      'reference/glossary.md',
    ],
  },
  {
    text: 'Reports',
    pages: ['reports/results.md'],
    nested: {
      index: `${REPORTS}/index.md`,
      pages: inFolder(REPORTS).filter((path) => path !== `${REPORTS}/results.md`),
    },
  },
  {
    text: 'Contribute',
    pages: [
      'contribute/decisions.md',
      'contribute/chaos.md',
      'contribute/attack-suite.md',
      'contribute/trainer-tests.md',
      'contribute/annotation.md',
    ],
  },
]

/** All pages that have a place, in the order of the sidebar. */
export const pagesInOrder = () =>
  GROUPS.flatMap(({ pages, nested }) => [...pages, ...(nested ? [nested.index, ...nested.pages] : [])])

/** Title of a page: its first heading. */
export function titleOf(path) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(`${docs}${path}`, 'utf8')) ?? []
  if (title === undefined) throw new Error(`docs/${path} has no title: begin it with "# Title"`)
  return title.replaceAll('`', '')
}

/** Anchor of a heading, as GitHub makes it. */
export const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')

const entry = (path) => ({ text: titleOf(path), link: `/${path.replace(/(index)?\.md$/, '')}` })

/** The sidebar in VitePress's form. */
export const sidebar = () =>
  GROUPS.map(({ text, pages, nested }) => ({
    text,
    collapsed: false,
    items: [
      ...pages.map(entry),
      ...(nested ? [{ ...entry(nested.index), collapsed: true, items: nested.pages.map(entry) }] : []),
    ],
  }))

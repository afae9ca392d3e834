// The documentation as a site: `npm run docs:build`. The pages are those that GitHub shows.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { defineConfig } from 'vitepress'
import { sidebar, slugOf } from './pages.mjs'

const { description, repository } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const icon = readFileSync(new URL('../../coordinator/dashboard/assets/icon.svg', import.meta.url))
const source = repository.url.replace(/^git\+|\.git$/g, '')

/** Link on the site: pages stay as they are, and other files of the repository are shown by GitHub. */
function linkOf(page, target) {
  const [path, anchor] = target.split('#')
  if (path === '' || /^[a-z]+:|^\//.test(path)) return target
  const file = posix.join('docs', posix.dirname(page), path)
  const isPage = file.startsWith('docs/') && file.endsWith('.md')
  return isPage ? target : `${source}/blob/main/${file}${anchor ? `#${anchor}` : ''}`
}

/** Changes the links while a page is rendered, before VitePress looks for dead ones. */
function withLinks(markdown) {
  markdown.core.ruler.push('links_to_the_repository', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', linkOf(env.relativePath, token.attrGet('href')))
    }
  })
}

/** GitHub draws these graphs. The site shows their text on demand, because the table above each has the same edges. */
function withFoldedGraphs(markdown) {
  const { fence } = markdown.renderer.rules
  markdown.renderer.rules.fence = (...args) => {
    const [tokens, index] = args
    const html = fence(...args)
    return tokens[index].info === 'mermaid'
      ? `<details><summary>As a graph, in Mermaid</summary>${html}</details>`
      : html
  }
}

export default defineConfig({
  title: 'PROVE swarm',
  description,
  base: `/${posix.basename(source)}/`,
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `data:image/svg+xml;base64,${icon.toString('base64')}` }],
    // Long names and formulas in a line break on a telephone.
    [
      'style',
      {},
      '.vp-doc :not(pre) > code, .vp-doc p, .vp-doc li { overflow-wrap: anywhere } .vp-doc pre { overflow-x: auto }',
    ],
  ],
  lastUpdated: false,
  // Addresses on the reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  srcExclude: ['node_modules/**'],
  markdown: {
    anchor: { slugify: slugOf },
    config(markdown) {
      withLinks(markdown)
      withFoldedGraphs(markdown)
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // Codes such as too_slow and options such as --no-listen are words.
          options: { tokenize: (text) => text.split(/[^\p{L}\p{N}_-]+/u) },
          searchOptions: {
            fuzzy: 0.1,
            prefix: true,
            boost: { title: 4, text: 2, titles: 1 },
            boostDocument: (id) => (/catalogue|reports/.test(id) ? 0.4 : 1),
          },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/' },
      { text: 'Volunteer', link: '/volunteer/' },
      { text: 'Operate', link: '/operate/start-a-run' },
      { text: 'Use a model', link: '/use-a-model/pull' },
      { text: 'Status', link: '/status' },
    ],
    sidebar: sidebar(),
    socialLinks: [{ icon: 'github', link: source }],
    editLink: { pattern: `${source}/edit/main/docs/:path` },
  },
})

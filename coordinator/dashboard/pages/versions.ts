import { html } from 'hono/html'
import type { SealedManifest } from '../../../proto/index.js'
import type { RunReport } from '../../report/run-report.js'
import type { VersionReport } from '../../report/version-report.js'
import { filesOf, SEALED_MANIFEST } from '../downloads.js'
import { DASHBOARD_LIMITS } from '../limits.js'
import { decimal, empty, live, type Markup, moment, percent, table, versionName } from '../page.js'

/** Renders the published versions with their files. */
export function versions({ versions: published }: RunReport, inService: readonly SealedManifest[]): Markup {
  if (published.length === 0) return live('published', empty('No version has been published yet.'))
  const columns = ['version', 'published', 'reward', 'solved', 'made again', 'files', 'SHA-256 of the adapter']
  const served = new Map(inService.map((sealed) => [sealed.manifest.version, sealed]))
  const shown = published.slice(-DASHBOARD_LIMITS.rows).reverse()
  return html`<p>Each version is a LoRA adapter for llama.cpp, on top of the base model. <code>prove-node adapters pull</code> downloads a version with its PEFT files and its provenance, from any node of the run. With <code>--from</code> and the address of this page, it downloads from here.</p>
${live(
  'published',
  table(
    'Published versions, newest first',
    columns.map((name) => ({ name, numeric: ['version', 'reward', 'solved'].includes(name) })),
    shown.map(({ version, withdrawn, publishedAtMs, reward, solved, rederived, adapterSha256 }) => [
      versionName({ version, withdrawn }),
      moment(publishedAtMs),
      decimal(reward),
      percent(solved),
      madeAgain(rederived),
      html`${namesOf(served.get(version)).map((name) => file(version, name))}`,
      html`<span class="name">${adapterSha256}</span>`,
    ]),
  ),
)}`
}

/** Says who made the step of a version again last, and with which result. */
const madeAgain = (rederived: VersionReport['rederived']): Markup =>
  rederived === null
    ? html`–`
    : html`${rederived.fault === null ? 'follows' : `does not follow: ${rederived.fault}`}, signed by <span class="name">${rederived.node}</span>`

/** Returns the files of a version: all of them while its manifest is in service, otherwise the adapter. */
const namesOf = (sealed: SealedManifest | undefined): string[] =>
  sealed ? [...filesOf(sealed).map(({ name }) => name), SEALED_MANIFEST] : ['adapter.gguf']

const file = (version: number, name: string): Markup =>
  html`<a href="/versions/${version}/${name}" download>${name}<span class="away"> of version ${version}</span></a> `

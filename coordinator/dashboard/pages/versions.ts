import { html } from 'hono/html'
import type { RunReport } from '../../report/run-report.js'
import { DASHBOARD_LIMITS } from '../limits.js'
import { decimal, empty, live, type Markup, moment, percent, table, versionName } from '../page.js'

/** What was published, to be fetched. */
export function versions({ versions: published }: RunReport): Markup {
  if (published.length === 0) return live('published', empty('Nothing has been published yet.'))
  const columns = ['version', 'published', 'reward', 'solved', 'adapter', 'SHA-256']
  const shown = published.slice(-DASHBOARD_LIMITS.rows).reverse()
  return html`<p>Each version is a LoRA adapter for llama.cpp, beside the base model. <code>prove-node adapters pull</code> fetches one with the files for PEFT and its provenance, from any node of the run.</p>
${live(
  'published',
  table(
    'Published versions, newest first',
    columns.map((name) => ({ name, numeric: ['version', 'reward', 'solved'].includes(name) })),
    shown.map(({ version, withdrawn, publishedAtMs, reward, solved, adapterSha256 }) => [
      versionName({ version, withdrawn }),
      moment(publishedAtMs),
      decimal(reward),
      percent(solved),
      html`<a href="/versions/${version}/adapter.gguf" download="version-${version}.gguf">adapter.gguf<span class="away"> of version ${version}</span></a>`,
      html`<span class="name">${adapterSha256}</span>`,
    ]),
  ),
)}`
}

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkout } from '../support/checkout.js'
import { diagrams } from './diagrams.js'

/** Writes docs/pictures. Usage: npm run pictures [-- --diagrams]: without screens, which need Chromium. */
for (const [name, svg] of diagrams()) writeFileSync(join(checkout, 'docs', 'pictures', name), svg)
if (!process.argv.includes('--diagrams')) {
  const { drawScreens } = await import('./screens.js')
  await drawScreens(join(checkout, 'docs', 'pictures'))
}

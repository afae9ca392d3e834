import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkout } from '../support/checkout.js'
import { diagrams } from './diagrams.js'

/** Writes docs/pictures. Usage: npm run pictures [-- FOLDER]. The folder is that of a finished demo run. Without it, only the diagrams are drawn. */
const run = process.argv[2]
for (const [name, svg] of diagrams()) writeFileSync(join(checkout, 'docs', 'pictures', name), svg)
if (run !== undefined) {
  const { drawScreens } = await import('./screens.js')
  await drawScreens(join(checkout, 'docs', 'pictures'), run)
}

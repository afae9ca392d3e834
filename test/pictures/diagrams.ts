import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { checksPicture } from './checks.js'
import { demoPicture } from './demo.js'
import { hardwarePicture } from './hardware.js'
import { loopPicture } from './loop.js'
import { nodeScreenPicture } from './node-screen.js'
import { readRecording } from './recording.js'
import { type Results, resultsPicture } from './results.js'
import { synthesisPicture } from './synthesis.js'
import { trustPicture } from './trust.js'

const read = (path: string): string => readFileSync(join(checkout, 'docs', path), 'utf8')

/** Draws the pictures that follow from code and recorded results, by file name in docs/pictures. The same inputs give the same bytes. */
export function diagrams(): Map<string, string> {
  const recording = readRecording(read('pictures/demo.txt'))
  const results = JSON.parse(read('reports/results.json')) as Results
  const tools = [...CATALOGUE.values()].reduce((sum, environment) => sum + environment.tools.length, 0)
  return new Map([
    ['demo.svg', demoPicture(recording)],
    ['loop.svg', loopPicture()],
    ['checks.svg', checksPicture()],
    ['trust.svg', trustPicture()],
    ['synthesis.svg', synthesisPicture({ environments: CATALOGUE.size, tools })],
    ['results.svg', resultsPicture(results, recording)],
    ['hardware.svg', hardwarePicture(read('operate/sizing.md'))],
    ['node-screen.svg', nodeScreenPicture()],
  ])
}

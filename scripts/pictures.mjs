// Draws docs/pictures: diagrams from tables in the code and from recorded results, and pages in Chromium.
// Usage: npm run pictures [-- FOLDER]   FOLDER: a finished run of the demo (.demo/runs/…), whose dashboard is shown. Without it, no pages are taken
// The demo's animation shows docs/pictures/demo.txt, the output of `npm run demo > docs/pictures/demo.txt`.
import { runProgram, setUpFirst } from './set-up-first.mjs'

setUpFirst(['--programs'])
runProgram('dist/test/pictures/main.js')

// The table of results in the README, from docs/reports/results.json, and the number of words of a document.
const BEGIN = '<!-- results -->'
const END = '<!-- /results -->'
const signed = (value) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`

/** @returns a document with the table of results between its two marks */
export function withResults(text, { rows }) {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error(`the document has no place for the results: ${BEGIN} … ${END}`)
  const table = [
    '| run | tasks | before | after | difference |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(
      ({ run, tasks, before, after, difference: [value, error] }) =>
        `| ${run} | ${tasks} | ${before[0].toFixed(1)} % | ${after[0].toFixed(1)} % | ${signed(value)} ± ${error.toFixed(1)} points |`,
    ),
  ].join('\n')
  return `${text.slice(0, begin + BEGIN.length)}\n${table}\n${text.slice(end)}`
}

/** @returns the number of words of a document: in text, tables and code, and a link or a picture with its address as its text alone */
export const wordsIn = (markdown) =>
  markdown
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length

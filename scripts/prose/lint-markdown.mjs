// The one use of textlint's kernel: runs the rules of textlint-rules.mjs over a Markdown text, offline.
import { TextlintKernel } from '@textlint/kernel'
import markdown from '@textlint/textlint-plugin-markdown'
import { bannedWords, namedSubject, sentenceLength } from './textlint-rules.mjs'

const kernel = new TextlintKernel()
const plugins = [{ pluginId: 'markdown', plugin: markdown.default ?? markdown }]

/**
 * Returns the findings in a text, in the order of its lines.
 * @param {string} path  from the root of the repository
 * @param {string} text
 * @param {{ max: number, words: import('./banned-words.mjs').BannedWord[], count?: (length: number) => void }} limits
 * @returns {Promise<{ line: number, ruleId: string, message: string }[]>}
 */
export async function lintMarkdown(path, text, { max, words, count }) {
  const rules = [
    { ruleId: 'sentence-length', rule: sentenceLength, options: { max, count } },
    { ruleId: 'named-subject', rule: namedSubject },
    { ruleId: 'banned-words', rule: bannedWords, options: { rules: words, path } },
  ]
  return (await kernel.lintText(text, { filePath: path, ext: '.md', plugins, rules })).messages
}

// Rules for textlint: length and beginning of sentences, and words that docs/reference/glossary.md bans.
import { splitAST } from 'sentence-splitter'
import { StringSource } from 'textlint-util-to-string'
import { bannedInText } from './banned-words.mjs'

/** Visits the paragraphs and table cells of a document as plain text; a code span counts as one word. */
const inBlocks = (visit) => (context, options) => {
  const { Syntax } = context
  const one = (node) => visit(context, node, options)
  return { [Syntax.Paragraph]: one, [Syntax.TableCell]: one, [Syntax.Header]: one }
}

/** Plain text of a node. @returns the text, and the function from a place in it to one in the node */
function plain(node) {
  const source = new StringSource(node, {
    replacer: ({ node: part, maskValue }) => (part.type === 'Code' ? maskValue('x') : undefined),
  })
  return { text: source.toString(), at: (index) => source.originalIndexFromIndex(index) ?? 0 }
}

/** Sentences of a block, each with its text. The splitter takes "100. The" for a number, so such a text is split here. */
const sentencesOf = (node) =>
  splitAST(node.type === 'Paragraph' ? node : { ...node, type: 'Paragraph' })
    .children.filter(({ type }) => type === 'Sentence')
    .flatMap((sentence) =>
      plain(sentence)
        .text.split(/(?<=[\p{L}\p{N})]\.)\s+(?=\p{Lu}|x{2,})/u)
        .map((text) => ({ sentence, text })),
    )

export const wordsOf = (text) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))

/** Reports sentences of more than `max` words. With `count`, calls it with the length of each sentence. */
export const sentenceLength = inBlocks(({ report, RuleError, locator }, node, { max, count }) => {
  for (const { sentence, text } of sentencesOf(node)) {
    const length = wordsOf(text).length
    count?.(length)
    if (length > max) {
      const start = sentence.range[0] - node.range[0]
      const padding = locator.at(start)
      report(node, new RuleError(`${length} words in a sentence, more than ${max}: ${opening(text)}`, { padding }))
    }
  }
})

const HEADLESS = /^(What|Whoever|Whatever|Those|That of|Nobody)\b/

/** Reports sentences that begin with a clause without a noun. Questions may begin so. */
export const namedSubject = inBlocks(({ report, RuleError, locator }, node) => {
  if (node.type === 'Header') return
  for (const { sentence, text } of sentencesOf(node)) {
    const word = text.trim().match(HEADLESS)?.[0]
    if (word && !text.trim().endsWith('?')) {
      const padding = locator.at(sentence.range[0] - node.range[0])
      report(node, new RuleError(`a sentence begins with "${word}"; name its subject: ${opening(text)}`, { padding }))
    }
  }
})

/** Reports words that docs/reference/glossary.md bans in text. */
export const bannedWords = inBlocks(({ report, RuleError, locator }, node, { rules, path }) => {
  const { text, at } = plain(node)
  for (const { word, instead, index } of bannedInText(rules, path, text)) {
    report(
      node,
      new RuleError(`"${word}": write ${instead} (docs/reference/glossary.md)`, { padding: locator.at(at(index)) }),
    )
  }
})

const opening = (text) => `"${text.trim().replace(/\s+/g, ' ').slice(0, 60)}…"`

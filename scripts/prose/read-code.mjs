// The English in TypeScript: comments of exported declarations and messages of errors, as Markdown with the lines of the source.
import ts from 'typescript'

/**
 * Returns a Markdown text with as many lines as the source. Only comments of exported declarations and of their members, and
 * messages given to constructors of errors, are in it.
 * @param {string} path
 * @param {string} source
 */
export function readCode(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const lines = Array.from({ length: file.getLineStarts().length }, () => '')
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line

  const comment = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) {
      if (source.startsWith('/**', pos))
        asMarkdown(source.slice(pos, end)).forEach((line, i) => {
          lines[lineOf(pos) + i] = line
        })
    }
  }
  const members = (node) => {
    if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isTypeLiteralNode(node)) {
      for (const member of node.members) comment(member)
    }
    ts.forEachChild(node, members)
  }
  for (const statement of file.statements) {
    if (
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    ) {
      comment(statement)
      if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) members(statement)
      if (ts.isClassDeclaration(statement)) statement.members.forEach(comment)
    }
  }
  const messages = (node) => {
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText(file))) {
      for (const text of (node.arguments ?? []).flatMap(messageOf)) {
        const line = lineOf(node.getStart(file))
        // A message is a paragraph of its line; code on the lines around it keeps it apart from comments.
        if (lines[line] === '') lines[line] = text
      }
    }
    ts.forEachChild(node, messages)
  }
  messages(file)
  return lines.join('\n')
}

/** The text of a string or template, if it is more than a code; values in it become one word. */
function messageOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text.includes(' ') ? [node.text.replaceAll('\n', ' ')] : []
  if (!ts.isTemplateExpression(node)) return []
  const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => `\`x\`${literal.text}`)]
  return [parts.join('').replaceAll('\n', ' ')]
}

/** Lines of a comment without its marks. A tag begins an item of a list. */
const asMarkdown = (comment) =>
  comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*\*? ?/, '')
        .replace(/^@(\w+)\s*(\{[^}]*\})?\s*/, '- ')
        .replace(/\{@link (\w+)[^}]*\}/g, '`$1`')
        .trimEnd(),
    )

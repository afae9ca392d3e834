/** Formats a number with a comma every three digits. `toLocaleString` would depend on the machine. */
export const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')

/** Formats a share as a percentage. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

/** Returns a Markdown table. @param align  alignment of every column but the first */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: '---:' | '---' = '---:',
): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : align))), ...rows.map(line)].join('\n')
}

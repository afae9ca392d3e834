/** A number with a comma every three digits. Written out, because `toLocaleString` depends on the machine. */
export const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

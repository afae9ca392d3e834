import Table from 'cli-table3'

/** Formats a table without lines. The first column and the named ones are left-aligned, the others right-aligned. */
export function tableOf(
  columns: readonly { readonly name: string; readonly left?: boolean }[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const none = { 'top-mid': '', 'mid-mid': '', 'bottom-mid': '', 'left-mid': '', 'right-mid': '', middle: '  ' }
  const edges = { top: '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-left': '', 'bottom-right': '' }
  const table = new Table({
    head: columns.map(({ name }) => name),
    colAligns: columns.map(({ left }, i) => (left || i === 0 ? 'left' : 'right')),
    chars: { ...none, ...edges, left: '', right: '', mid: '' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => [...row]))
  return table.toString().replaceAll(/ +$/gm, '')
}

import { type ColumnSource, fileWriter, ParquetWriter } from 'hyparquet-writer'
import type { DatasetRecord } from './record.js'

/** Rows of a row group. One group is in memory, about 8 MB. */
const ROWS_PER_GROUP = 500

type Cell = string | number | boolean | null

interface Column {
  readonly name: string
  readonly type: 'STRING' | 'INT32' | 'BOOLEAN'
  readonly nullable?: boolean
  /** The text is the JSON of the record's field of this name; or the column is none of the record's fields. */
  readonly from?: 'structure' | 'elsewhere'
  cell(record: DatasetRecord): Cell
}

/**
 * Columns of the file. Structures are JSON text: nested columns would be merged into one structure with a null for every argument of
 * every other tool.
 */
export const COLUMNS: readonly Column[] = [
  { name: 'schema', type: 'INT32', cell: ({ schema }) => schema },
  { name: 'id', type: 'STRING', cell: ({ id }) => id },
  { name: 'index', type: 'INT32', cell: ({ index }) => index },
  { name: 'split', type: 'STRING', cell: ({ split }) => split },
  { name: 'kind', type: 'STRING', cell: ({ kind }) => kind },
  { name: 'information', type: 'STRING', from: 'elsewhere', cell: ({ metadata }) => metadata.information },
  { name: 'recovery', type: 'STRING', nullable: true, from: 'elsewhere', cell: ({ metadata }) => metadata.recovery },
  {
    name: 'user_turns',
    type: 'INT32',
    from: 'elsewhere',
    cell: ({ messages }) => messages.filter(({ role }) => role === 'user').length,
  },
  { name: 'ground_truth_calls', type: 'INT32', from: 'elsewhere', cell: (record) => record.ground_truth.length },
  { name: 'messages', type: 'STRING', from: 'structure', cell: ({ messages }) => JSON.stringify(messages) },
  { name: 'tools', type: 'STRING', from: 'structure', cell: ({ tools }) => JSON.stringify(tools) },
  { name: 'ground_truth', type: 'STRING', from: 'structure', cell: (record) => JSON.stringify(record.ground_truth) },
  { name: 'facts', type: 'STRING', from: 'structure', cell: ({ facts }) => JSON.stringify(facts) },
  { name: 'questions', type: 'STRING', from: 'structure', cell: ({ questions }) => JSON.stringify(questions) },
  { name: 'environments', type: 'STRING', from: 'structure', cell: ({ environments }) => JSON.stringify(environments) },
  { name: 'toolset', type: 'STRING', from: 'structure', cell: ({ toolset }) => JSON.stringify(toolset) },
  { name: 'strip_enums', type: 'BOOLEAN', cell: (record) => record.strip_enums },
  { name: 'chain', type: 'STRING', cell: ({ chain }) => chain },
  { name: 'calls', type: 'STRING', from: 'structure', cell: ({ calls }) => JSON.stringify(calls) },
  { name: 'metadata', type: 'STRING', from: 'structure', cell: ({ metadata }) => JSON.stringify(metadata) },
]

export interface ParquetFile {
  /** Adds a row. */
  append(record: DatasetRecord): Promise<void>
  /** Writes the last row group and the footer. */
  finish(): Promise<void>
}

/** Creates a Parquet file that is written row group by row group. The same records give the same bytes. */
export function createParquetFile(path: string): ParquetFile {
  const schema = COLUMNS.map(({ name, type, nullable }) => ({
    name,
    ...(type === 'STRING'
      ? ({ type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const)
      : { type }),
    repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
  }))
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [{ name: 'record', num_children: COLUMNS.length }, ...schema],
    createdBy: 'prove-swarm',
  })
  let rows: DatasetRecord[] = []
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return
    const columnData = COLUMNS.map(({ name, cell }): ColumnSource => ({ name, data: rows.map(cell) }))
    await writer.write({ columnData, rowGroupSize: ROWS_PER_GROUP })
    rows = []
  }
  return {
    async append(record) {
      rows.push(record)
      if (rows.length === ROWS_PER_GROUP) await flush()
    },
    async finish() {
      await flush()
      await writer.finish()
    },
  }
}

/** Limits for documents and servers of others, which are untrusted. */
export const IMPORT_LIMITS = {
  /** Bytes of a document. GitHub's, one of the largest, has 13 million. */
  documentBytes: 16 << 20,
  /** Bytes of the tool list of an MCP server. */
  sourceBytes: 4 << 20,
  /** Tools of one draft. The largest environments of the project have 40; split a larger service into several environments. */
  tools: 128,
  /** Tools that an MCP server may list before some are chosen. */
  listedTools: 2048,
  /** Parts of one schema with every reference followed, which a few lines can make a million of. */
  schemaParts: 2000,
  /** Nesting of schemas, far below the limit of the stack. */
  schemaNesting: 100,
  /** Levels of a schema that the draft contains. Deeper levels, and recursive ones, become "any object". */
  schemaDepth: 5,
  /** Fields of one object and values of one enum. */
  fields: 48,
  enumValues: 48,
  /** Places that one note lists. */
  placesPerNote: 3,
  /** Characters of a name, of a description and of the question that asks for a tool. */
  nameLength: 60,
  descriptionLength: 240,
  /** Failures that are taken from the documented answers of one call. */
  failuresPerTool: 4,
  /** Starting an MCP server and hearing all of its tools. Programs that npx has to fetch first take the longest. */
  serverMs: 60_000,
} as const

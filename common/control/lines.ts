/** Far longer than any event: a batch of 65,536 leases takes 3 MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
const NEWLINE = 0x0a

/**
 * Yields the lines of a text that arrives in pieces, including an unterminated last line.
 * @throws RangeError for a line longer than 16 MiB
 */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let begun: Uint8Array[] = []
  let size = 0
  const line = (end: Uint8Array): string => Buffer.concat([...begun, end]).toString('utf8')
  for await (const piece of pieces) {
    let from = 0
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, from)) {
      yield line(piece.subarray(from, at))
      begun = []
      size = 0
      from = at + 1
    }
    const rest = piece.subarray(from)
    size += rest.length
    if (size > MAX_LINE_BYTES) throw new RangeError(`a line is longer than ${MAX_LINE_BYTES} B`)
    if (rest.length > 0) begun.push(rest)
  }
  if (size > 0) yield line(new Uint8Array())
}

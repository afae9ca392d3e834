/** A stack frame in glibc's form: `libggml-cuda.so(+0x2c1483)[0x7f729ecc1483]`. */
const FRAME = /\[0x[0-9a-f]+\]\s*$/
/** The beginnings of messages in which llama.cpp's libraries report a fatal error. */
const FATAL = /^(?:CUDA error|GGML_ASSERT|ggml_\w+ error|.*: (?:error|terminate called))/i

/** Returns the reason of a crash from stderr: the lines that report a fatal error, or else all lines without the stack. */
export function crashReason(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !FRAME.test(line))
  const reasons = lines.filter((line) => FATAL.test(line))
  return (reasons.length > 0 ? reasons : lines).join('; ')
}

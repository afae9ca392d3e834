/** A frame of a stack, as glibc writes it: `libggml-cuda.so(+0x2c1483)[0x7f729ecc1483]`. */
const FRAME = /\[0x[0-9a-f]+\]\s*$/
/** How llama.cpp's libraries begin to say what has ended the process. */
const VERDICT = /^(?:CUDA error|GGML_ASSERT|ggml_\w+ error|.*: (?:error|terminate called))/i

/** What a process that has crashed has last written, without the stack; all of the lines that give the reason, if any do. */
export function crashReason(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !FRAME.test(line))
  const verdicts = lines.filter((line) => VERDICT.test(line))
  return (verdicts.length > 0 ? verdicts : lines).join('; ')
}

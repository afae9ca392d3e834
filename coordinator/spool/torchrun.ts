/** Arguments of the interpreter before `-m prove_trainer`, for so many ranks on this machine. */
export const torchrun = (processes: number): readonly string[] =>
  // A launcher of one rank would add nothing but its own start.
  processes > 1 ? ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(processes)] : []

/** Steps that undo what a function has opened so far, in the reverse order of registration. */
export interface CleanUp {
  /** Registers a step. */
  add(step: () => unknown): void
  /**
   * Runs and forgets all registered steps, the newest first. Every step runs, even when an earlier one fails.
   * @throws the first error of a step
   */
  close(): Promise<void>
}

/** `AsyncDisposableStack` of ECMAScript, which Node.js has from version 24 on, as far as this project needs it. */
export function createCleanUp(): CleanUp {
  const steps: (() => unknown)[] = []
  return {
    add: (step) => void steps.push(step),
    async close() {
      const errors: unknown[] = []
      for (const step of steps.splice(0).reverse()) {
        try {
          await step()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
  }
}

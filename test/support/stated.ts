/**
 * Says what a hook throws. uvu forgets it when it comes from `before`: the tests of the file are not run, and nobody knows why.
 */
export const stated =
  <Context>(hook: (context: Context) => Promise<void>) =>
  async (context: Context): Promise<void> => {
    try {
      await hook(context)
    } catch (error) {
      console.error(error)
      throw error
    }
  }

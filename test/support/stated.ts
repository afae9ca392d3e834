/**
 * Prints the error of a hook. uvu drops an error of `before`: the tests of the file do not run, and no reason is shown.
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

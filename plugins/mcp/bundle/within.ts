/** What a promise gives in this time, in milliseconds; undefined: nothing yet. The promise must not reject. */
export const within = async <T>(promise: Promise<T>, ms: number): Promise<T | undefined> => {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What promises give that must not reject: all of it, or what is there so long after the first that is good; undefined for one that is late. */
export const together = async <T>(
  promises: readonly Promise<T>[],
  isGood: (value: T) => boolean,
  ms: number,
): Promise<readonly (T | undefined)[]> => {
  const values: (T | undefined)[] = promises.map(() => undefined)
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const all = Promise.all(
    promises.map(async (promise, index) => {
      const value = await promise
      values[index] = value
      if (isGood(value)) resolve()
    }),
  ).then(() => resolve())
  await first
  await within(all, ms)
  return [...values]
}

const throwers = new WeakMap<object, string>()

/** Notes which plugin threw an error, and where: `request:my-plugin`, `api-style:mine`. Who is nearest to the fault is noted first, and stays. */
export const noteThrower = (error: unknown, who: string): void => {
  if (typeof error === 'object' && error !== null && !throwers.has(error)) throwers.set(error, who)
}

/** What was noted of an error; undefined where nobody knows. */
export const throwerOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? throwers.get(error) : undefined

/** The work's value; what it throws is noted as thrown by `who`. */
export const thrownBy = <T>(who: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    noteThrower(error, who)
    throw error
  }
}

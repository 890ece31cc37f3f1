const origins = new WeakMap<object, string>()

/** Notes which plugin threw an error, and where: `request:my-plugin`, `api-style:mine`. The first note stays: it is nearest to the fault. */
export const noteErrorOrigin = (error: unknown, who: string): void => {
  if (typeof error === 'object' && error !== null && !origins.has(error)) origins.set(error, who)
}

const turns = new WeakMap<object, string>()

/** Notes which tap has its turn with what a hook is about. */
export const noteTurn = (about: unknown, who: string): void => {
  if (typeof about === 'object' && about !== null) turns.set(about, who)
}

/** The tap whose turn was noted last. */
export const turnOf = (about: object): string | undefined => turns.get(about)

/** The noted origin of an error, if any. */
export const errorOrigin = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? origins.get(error) : undefined

/** What was thrown, noted as thrown by `who`. What is no object has no place for a note, and what is falsy is taken for no error. */
export const withOrigin = (thrown: unknown, who: string): unknown => {
  const noted = typeof thrown === 'object' && thrown !== null ? thrown : new Error(`threw ${String(thrown)}`)
  noteErrorOrigin(noted, who)
  return noted
}

/** Runs work and notes `who` as the origin of what it throws. */
export const withErrorOrigin = <T>(who: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    noteErrorOrigin(error, who)
    throw error
  }
}

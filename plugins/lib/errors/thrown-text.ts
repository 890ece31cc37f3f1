import { inspect } from 'node:util'

/** What a thrown value says, with the name of its kind, for a log. Anything can be thrown, also what has no text or throws when it is asked for it. */
export const thrownText = (thrown: unknown): string => {
  try {
    if (typeof thrown === 'string') return thrown
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : inspect(thrown, { depth: 1 })
  } catch {
    return 'something that cannot be shown'
  }
}

/** The stack of a thrown value; empty where it has none that is text. */
export const thrownStack = (thrown: unknown): string => {
  try {
    const { stack } = thrown instanceof Error ? thrown : {}
    return typeof stack === 'string' ? stack : ''
  } catch {
    return ''
  }
}

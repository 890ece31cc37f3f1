import { inspect } from 'node:util'

/** The text of a thrown value, with the name of its class, for a log. Anything can be thrown, also a value whose text throws. */
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

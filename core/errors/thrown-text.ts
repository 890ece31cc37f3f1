import { inspect } from 'node:util'

/** What a thrown value says, with the name of its kind, for a log. Anything can be thrown, also what has no text. */
export const thrownText = (thrown: unknown): string =>
  thrown instanceof Error
    ? `${thrown.name}: ${thrown.message}`
    : typeof thrown === 'string'
      ? thrown
      : inspect(thrown, { depth: 1 })

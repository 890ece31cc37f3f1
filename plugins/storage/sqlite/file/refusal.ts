import type { databaseErrors } from '#lib/errors'

export type RefusalCode = keyof typeof databaseErrors

/** Why the database cannot be opened. The main thread turns it into a GuardError. */
export class Refusal extends Error {
  readonly code: RefusalCode
  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

import type { Code } from 'guard-gateway/core'

/** Why the database cannot be opened. The main thread turns it into a GuardError. */
export class Refusal extends Error {
  readonly code: Code
  constructor(code: Code, message: string) {
    super(message)
    this.code = code
  }
}

import type { Code } from 'guard-gateway/core'

/** Why the database cannot be opened; the other thread makes a GuardError of it. */
export class Refusal extends Error {
  readonly code: Code
  constructor(code: Code, message: string) {
    super(message)
    this.code = code
  }
}

import type { GuardError } from 'guard-gateway/core'

/** Errors of refused requests, by Node's request object, for the log. */
export const requestErrors = new WeakMap<object, GuardError>()

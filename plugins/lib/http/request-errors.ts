import type { GuardError } from 'guard-gateway/core'

/** What requests were refused with, by the request as Node gives it: noted by whoever answers it, for the log. */
export const requestErrors = new WeakMap<object, GuardError>()

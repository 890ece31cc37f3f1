import type { Identity } from '../call.ts'

/** Whose key a request showed, by the request as Node gives it: noted when the key is checked, for those who answer the request. */
export const identities = new WeakMap<object, Identity>()

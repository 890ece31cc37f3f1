import type { Identity } from 'guard-gateway/core'

const IDENTITY = Symbol('identity')

interface Shown {
  [IDENTITY]?: Identity
}

/** Whose key a request showed, by the request as Node gives it: noted when the key is checked, for those who answer the request. Kept on the request itself, which costs less than a weak map. */
export const identities = {
  get: (request: object): Identity | undefined => (request as Shown)[IDENTITY],
  set: (request: object, identity: Identity): void => {
    ;(request as Shown)[IDENTITY] = identity
  },
}

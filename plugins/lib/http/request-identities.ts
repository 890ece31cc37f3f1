import type { Identity } from 'guard-gateway/core'

const IDENTITY = Symbol('identity')

interface IdentifiedRequest {
  [IDENTITY]?: Identity
}

/** Whose key a request showed, by the request as Node gives it: noted when the key is checked, for those who answer the request. Kept on the request itself, which costs less than a weak map. */
export const requestIdentities = {
  get: (request: object): Identity | undefined => (request as IdentifiedRequest)[IDENTITY],
  set: (request: object, identity: Identity): void => {
    ;(request as IdentifiedRequest)[IDENTITY] = identity
  },
}

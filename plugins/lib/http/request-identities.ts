import type { Identity } from 'guard-gateway/core'

const IDENTITY = Symbol('identity')

interface IdentifiedRequest {
  [IDENTITY]?: Identity
}

/** Whose key a request had, by Node's request object; set when the key is checked. It is a property of the request, which costs less than a weak map. */
export const requestIdentities = {
  get: (request: object): Identity | undefined => (request as IdentifiedRequest)[IDENTITY],
  set: (request: object, identity: Identity): void => {
    ;(request as IdentifiedRequest)[IDENTITY] = identity
  },
}

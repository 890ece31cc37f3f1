/**
 * The client's own provider credentials (name, value, name, value …), by the request they came with: a call or a proxied request.
 * They are not on the request, so that no hook sees them; an upstream with `auth: passthrough` reads them here.
 * No key of the gateway is ever among them.
 */
export const clientCredentials = new WeakMap<object, readonly string[]>()

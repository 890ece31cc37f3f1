/**
 * The client's own provider credentials (name, value, name, value …), by the request they came with: a call or a proxied request.
 * They are on neither, so that nobody who watches requests sees them; an upstream with `auth: passthrough` asks for them here.
 * No key of the gateway is ever among them.
 */
export const clientCredentials = new WeakMap<object, readonly string[]>()

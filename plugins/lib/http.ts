export { clientCredentials } from './http/client-credentials.ts'
export { ConcurrencyLimit } from './http/concurrency-limit.ts'
export { type OutboundMessage, outboundHeaders, replyHeaders, tapsOutbound, tapsReply } from './http/head-hooks.ts'
export { AGENT_KEY, byHeaderName, headerText, isCredentialName, projectHeader } from './http/header-names.ts'
export { checkEncoding, inflated, withInflated } from './http/inflate.ts'
export { mediaType } from './http/media-type.ts'
export { acceptNoBody } from './http/no-body.ts'
export { holdsOwnKey } from './http/own-keys.ts'
export { requestErrors } from './http/request-errors.ts'
export { requestIdentities } from './http/request-identities.ts'
export {
  type InFlightClient,
  type SocketCall,
  type SocketRoute,
  type SocketUpgrade,
  socketRouteKind,
} from './http/socket-route.ts'
export { isZlibStream } from './http/zlib-stream.ts'

import type { FastifyReply, onSendHookHandler } from 'fastify'
import type { RouteClass } from './admission/route-class.ts'

/** Headers against cross-origin reads, framing, MIME sniffing and caching. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
}

/** Sets the security headers of a response, and `no-store` unless it has a `cache-control` of its own. */
export const setSecurityHeaders = (reply: FastifyReply): void => {
  reply.headers(securityHeaders)
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  if (String(reply.getHeader('content-type') ?? '').startsWith('text/html')) setDocumentHeaders(reply)
}

const documentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** Lets a document load files of this server alone, unless it has a policy of its own. */
export const setDocumentHeaders = (reply: FastifyReply): void => {
  reply.header('x-frame-options', 'DENY').header('cross-origin-opener-policy', 'same-origin')
  if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', documentPolicy)
}

/** Adds the security headers and the request id to each response of a route. */
export const guardResponse =
  (kind: RouteClass): onSendHookHandler =>
  (request, reply, payload, done) => {
    reply.header('x-guard-request-id', request.id)
    if (kind !== 'probe') setSecurityHeaders(reply)
    done(null, payload)
  }

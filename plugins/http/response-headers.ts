import type { FastifyReply, onSendHookHandler } from 'fastify'
import type { RouteClass } from './admission/route-class.ts'

/** Headers that keep a browser from reading, framing, guessing or keeping what is not meant for it. */
const guarding: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
}

/** Sets these headers on an answer, and forbids to keep it unless it says itself for how long. */
export const protect = (reply: FastifyReply): void => {
  reply.headers(guarding)
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  if (String(reply.getHeader('content-type') ?? '').startsWith('text/html')) protectDocument(reply)
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

/** Lets a document load this server's own files and nothing else, unless it brings a policy of its own. */
export const protectDocument = (reply: FastifyReply): void => {
  reply.header('x-frame-options', 'DENY').header('cross-origin-opener-policy', 'same-origin')
  if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', documentPolicy)
}

/** Adds these headers and the request id to each answer of a route. */
export const guardResponse =
  (kind: RouteClass): onSendHookHandler =>
  (request, reply, payload, done) => {
    reply.header('x-guard-request-id', request.id)
    if (kind !== 'probe') protect(reply)
    done(null, payload)
  }

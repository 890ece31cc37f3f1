import type { FastifyReply, FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import { httpErrors } from '../error-codes.ts'
import { setDocumentHeaders } from '../response-headers.ts'

/** Sends a browser that asks for a page without a login there. False: an error is the answer. */
export const redirectToLogin = (request: FastifyRequest, reply: FastifyReply, error: unknown): boolean => {
  const { headers, method } = request
  if (!(error instanceof GuardError) || error.entry !== httpErrors.KEY_REQUIRED) return false
  if (headers.accept?.includes('text/html') !== true) return false
  const isPage = method === 'GET' || method === 'HEAD'
  // what a link from elsewhere opens comes without the cookie, which is strict; the page asks again by itself
  if (
    isPage &&
    headers['sec-fetch-site'] !== undefined &&
    /^(?:cross-site|same-site)$/.test(headers['sec-fetch-site'])
  ) {
    reply.code(200).type('text/html; charset=utf-8')
    setDocumentHeaders(reply)
    void reply.send(bounce(request.url))
    return true
  }
  const next = isPage ? request.url : '/'
  void reply.redirect(next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`, 303)
  return true
}

const bounce = (url: string): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Guard</title><meta http-equiv="refresh" content="0;url=${url}"></head><body><p><a href="${url}">Continue</a></p></body></html>`
    .text

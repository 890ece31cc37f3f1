import type { onRequestHookHandler } from 'fastify'
import { GuardError, isFault, type Settled, stages } from 'guard-gateway/core'
import { thrownStack, thrownText } from 'guard-gateway/lib/errors'
import { refusals } from 'guard-gateway/lib/http'
import type { HttpFace } from './face.ts'
import type { LogFields } from './log.ts'

/** Logs the end of every guarded request, and every failure that nobody waits for. */
export const logEvents = (face: HttpFace): void => {
  const { hooks, redact } = face.gateway
  hooks.settle.tap({ name: 'http', stage: stages.settle.log }, (settled) => {
    if (face.log !== undefined) logSettled(face, settled)
  })
  hooks.fault.tap('http', (error, where) => {
    const code = error instanceof GuardError ? error.code : 'INTERNAL'
    const stack = isFault(error) ? placesIn(error).map(redact.text) : []
    face.log?.line('error', {
      fault: where,
      code,
      message: redact.text(thrownText(error)),
      ...(stack.length === 0 ? {} : { stack }),
    })
  })
}

const MAX_PLACES = 5
const placesIn = (error: unknown): readonly string[] =>
  thrownStack(error)
    .split(/\n +at /)
    .slice(1, 1 + MAX_PLACES)

/** What a request was refused with, and of what is none of our own errors what it says itself. */
export const refusal = ({ gateway }: HttpFace, error: GuardError): Pick<LogFields, 'code' | 'message'> =>
  error.code === 'INTERNAL' && error.cause !== undefined
    ? { code: error.code, message: gateway.redact.text(thrownText(error.cause)) }
    : { code: error.code }

const logSettled = (face: HttpFace, { call, decision, outcome, status, upstream, bytes_out }: Settled): void =>
  face.log?.line('info', {
    request_id: call.id,
    method: 'POST',
    route: call.path,
    status,
    duration_ms: Math.round(face.gateway.clock.tick() - call.tick),
    bytes_in: call.body.length,
    bytes_out,
    decision: decision.decision,
    reason: decision.reason,
    outcome,
    upstream,
  })

/** Logs the end of each answer of a route, also of one whose client has left. */
export const logAnswers =
  (face: HttpFace, route: string): onRequestHookHandler =>
  (request, reply, done) => {
    const { clock } = face.gateway
    const begun = clock.tick()
    reply.raw.once('close', () => {
      const refused = refusals.get(request.raw)
      const bytes = reply.getHeader('content-length')
      face.log?.line('info', {
        request_id: request.id,
        method: request.method,
        route,
        // a client that leaves while its answer is awaited has none
        ...(reply.raw.headersSent ? { status: reply.statusCode } : {}),
        duration_ms: Math.round(clock.tick() - begun),
        ...(bytes === undefined ? {} : { bytes_out: Number(bytes) }),
        ...(refused === undefined ? {} : refusal(face, refused)),
      })
    })
    done()
  }

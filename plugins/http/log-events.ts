import type { onRequestHookHandler } from 'fastify'
import { GuardError, isFault, type Settled, stages } from 'guard-gateway/core'
import { thrownStack, thrownText } from '#lib/errors'
import { requestErrors } from '#lib/http'
import type { HttpServerState } from './http-server-state.ts'
import type { LogFields } from './log.ts'

/** Logs the end of every guarded request, and every background fault. */
export const logEvents = (state: HttpServerState): void => {
  const { hooks, redact } = state.gateway
  hooks.settle.tap({ name: 'http', stage: stages.settle.log }, (settled) => {
    if (state.log !== undefined) logSettled(state, settled)
  })
  hooks.fault.tap('http', (error, where) => {
    const code = error instanceof GuardError ? error.code : 'INTERNAL'
    const inner = innermost(error)
    const stack = isFault(error) ? placesIn(inner).map(redact.text) : []
    state.log?.line('error', {
      fault: where,
      code,
      message: redact.text(thrownText(inner)),
      ...(stack.length === 0 ? {} : { stack }),
    })
  })
}

/** What an INTERNAL stands for, whose own message says nothing. */
const innermost = (error: unknown): unknown =>
  error instanceof GuardError && error.code === 'INTERNAL' && error.cause !== undefined ? innermost(error.cause) : error

const MAX_PLACES = 5
const placesIn = (error: unknown): readonly string[] =>
  thrownStack(error)
    .split(/\n +at /)
    .slice(1, 1 + MAX_PLACES)

/** The code a request was refused with, and the message of an unexpected error. */
export const refusal = ({ gateway }: HttpServerState, error: GuardError): Pick<LogFields, 'code' | 'message'> =>
  error.code === 'INTERNAL' && error.cause !== undefined
    ? { code: error.code, message: gateway.redact.text(thrownText(error.cause)) }
    : { code: error.code }

const logSettled = (state: HttpServerState, { call, decision, outcome, status, upstream, bytes_out }: Settled): void =>
  state.log?.line('info', {
    request_id: call.id,
    method: 'POST',
    route: call.path,
    status,
    duration_ms: Math.round(state.gateway.clock.tick() - call.tick),
    bytes_in: call.body.length,
    bytes_out,
    decision: decision.decision,
    reason: decision.reason,
    outcome,
    upstream,
  })

/** Logs the end of each response of a route, also if its client has disconnected. */
export const logResponses =
  (state: HttpServerState, route: string): onRequestHookHandler =>
  (request, reply, done) => {
    const { clock } = state.gateway
    const begun = clock.tick()
    reply.raw.once('close', () => {
      const refused = requestErrors.get(request.raw)
      const bytes = reply.getHeader('content-length')
      state.log?.line('info', {
        request_id: request.id,
        method: request.method,
        route,
        // a client that leaves while its answer is awaited has none
        ...(reply.raw.headersSent ? { status: reply.statusCode } : {}),
        duration_ms: Math.round(clock.tick() - begun),
        ...(bytes === undefined ? {} : { bytes_out: Number(bytes) }),
        ...(refused === undefined ? {} : refusal(state, refused)),
      })
    })
    done()
  }

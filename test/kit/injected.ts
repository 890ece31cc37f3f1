import assert from 'node:assert/strict'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { ErrorBody } from 'guard-gateway/core'
import { readJson } from '#lib/json'

/** An answer with its JSON body, integers exact. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** Undefined if the text is no JSON. */
  readonly body: unknown
}

/** Sends a request to an app that listens nowhere; text and bytes go as they are, anything else as JSON. */
export const injected = async (
  app: FastifyInstance,
  method: NonNullable<InjectOptions['method']>,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const request: InjectOptions = { method, url, headers: { host: '127.0.0.1:8787', ...headers } }
  if (body !== undefined) {
    request.payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    request.headers = { 'content-type': 'application/json', ...request.headers }
  }
  const { statusCode, headers: answered, body: text } = await app.inject(request)
  return { status: statusCode, headers: answered, text, body: parsed(text) }
}

const parsed = (text: string): unknown => {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** The answer's body, which must have this status. */
export const expecting = <T>(status: number, answer: Answer): T => {
  assert.equal(answer.status, status, answer.text)
  return answer.body as T
}

/** Asserts an error answer of this status and code, and gives its body. */
export const refused = (status: number, code: string, answer: Answer): ErrorBody => {
  const { error } = expecting<{ readonly error: ErrorBody }>(status, answer)
  assert.equal(error.code, code)
  return error
}

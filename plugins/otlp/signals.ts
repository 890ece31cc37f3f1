import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { codecFor } from './codec.ts'

/** OTLP signals that are not stored. */
export const SIGNALS = ['logs', 'metrics'] as const

/** Number of requests per signal. */
export type Ignored = Record<(typeof SIGNALS)[number], number>

const described = (signal: string): FastifySchema & { readonly summary: string; readonly tags: readonly string[] } => ({
  summary: `Answer exporters of ${signal}; nothing of it is read or kept`,
  tags: ['replay'],
  response: { 200: { description: 'Taken as a whole, so that exporters are content.' } },
})

/** Paths of logs and metrics: requests are counted and accepted, but bodies are not read. */
export const signals =
  (ignored: Ignored, max_body_bytes: number) =>
  async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      ['application/json', 'application/x-protobuf'],
      { bodyLimit: max_body_bytes },
      (_request, body, done) => {
        body.on('error', done)
        body.on('end', () => done(null, undefined))
        body.resume()
      },
    )
    for (const signal of SIGNALS) {
      const take = async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
        const codec = await codecFor(headers['content-type'])
        if (codec === undefined)
          throw new GuardError(
            'UNSUPPORTED_MEDIA_TYPE',
            'The content type is not one of OTLP. Send application/json or application/x-protobuf.',
          )
        ignored[signal]++
        return reply.type(codec.mediaType).send(codec.success(undefined))
      }
      app.post(`/v1/${signal}`, { schema: described(signal) }, take)
      app.post(`/v1/${signal}/`, { schema: { hide: true } as FastifySchema }, take)
    }
  }

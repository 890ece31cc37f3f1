import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '#lib/json'
import type { Notify } from './notify.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const receiver = Type.Object({
  name: Type.String(),
  notifier: Type.String(),
  target: Type.String({ description: 'Its address without secrets' }),
  status: Type.String({ enum: ['ok', 'failing'] }),
  queued: Type.Integer(),
  delivered: Type.Integer(),
  dropped: Type.Integer({ description: 'For want of room or time' }),
  failed: Type.Integer({ description: 'Refused by the receiver' }),
  last_delivered_at: textOrNull('RFC 3339'),
  last_error: Type.Union([Type.Object({ at: Type.String(), message: Type.String() }), Type.Null()]),
})

const notice = Type.Object({
  at: Type.String({ description: 'RFC 3339' }),
  event: Type.String(),
  subject: Type.String({ description: 'What it happened to' }),
  text: Type.String(),
  path: Type.String({ description: 'Of the page that shows it' }),
  project_id: textOrNull('Null where it concerns no project'),
})

const listing = Type.Object({ receivers: Type.Array(receiver), notices: Type.Array(notice) })

export const tested = Type.Object({
  results: Type.Array(
    Type.Object({
      receiver: Type.String(),
      outcome: Type.String({ enum: ['delivered', 'retryable', 'rejected'] }),
      error: textOrNull('Why it was not delivered'),
    }),
  ),
})

const testBody = Type.Object(
  { receiver: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'All if absent' })) },
  { additionalProperties: false, examples: [{}] },
)

/** What was told of, how receivers are doing, and a message that tries them, below `/api`. */
export const notifyRoutes =
  (notify: Notify): FastifyPluginAsyncTypebox =>
  async (app) => {
    const list = { summary: 'Receivers of notifications, and what was told of lately', response: { 200: listing } }
    app.get('/notify', { schema: list }, async () => ({
      receivers: [...notify.deliveries.values()].map((delivery) => delivery.health()),
      notices: notify.latest.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
    }))

    const test = { summary: 'Send a test message to receivers', body: testBody, response: { 200: tested } }
    app.post('/notify/test', { schema: test }, async ({ body }) => ({
      results: [...(await notify.test(body.receiver))],
    }))
  }

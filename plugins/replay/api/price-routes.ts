import type { FastifyInstance } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { rejectUnknown, rejectUnknownFilters } from '#lib/errors'
import { Type } from '#lib/json'
import { replayErrors } from '../error-codes.ts'
import { priceEntry, priceReport } from '../pricing/price-report.ts'
import type { Pricing } from '../pricing/pricing.ts'
import type { RawQuery } from './filters.ts'
import { count, orNull, text, textOrNull } from './record-schemas.ts'
import { routeSchema } from './route-schema.ts'

const price = (description: string) => Type.Integer({ minimum: 0, description })
const parts = {
  input: price('Millionths of the currency per million tokens, as are all prices here.'),
  output: price('Of output that is no reasoning.'),
  cache_read: price('Of input that was read from a cache.'),
  cache_write_5m: price('Of input that was written into a cache for five minutes, or for an unknown time.'),
  cache_write_1h: price('Of input that was written into a cache for an hour.'),
  reasoning: price('Of reasoning, which is part of the output.'),
}
const above = Type.Integer({ minimum: 1, description: 'Input tokens, cached ones included.' })
const tiers = Type.Array(Type.Object({ above, ...parts }), {
  description: 'Prices of a whole request with more input tokens than `above`, the greatest first.',
})

const reportAnswer = Type.Object({
  status: Type.Unsafe<string>({ type: 'string', enum: ['ok', 'error'] }),
  file: Type.Union([text, Type.Null()], { description: 'Path of the price file; null if none is configured.' }),
  version: Type.Union([text, Type.Null()], { description: 'First 12 hex digits of its SHA-256.' }),
  currency: Type.Union([text, Type.Null()], { description: 'Three capital letters.' }),
  models: Type.Integer({ minimum: 0, description: 'How many names and patterns it has.' }),
  as_of: Type.Union([text, Type.Null()], { description: 'Date for which it says its prices are right.' }),
  age_days: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Days since then.' }),
  stale: Type.Boolean({ description: 'It is older than 90 days.' }),
  error: Type.Optional(Type.Object({ code: text, message: text })),
  sources: Type.Array(Type.Object({ name: text, url: text, read: Type.String({ description: 'A date.' }) }), {
    description: 'Where the prices were read, and when.',
  }),
  looked_at: Type.Object(
    { days: count, spans: count },
    { description: 'Calls of so many days and the newest spans of other senders, so many, were looked at.' },
  ),
  unpriced: Type.Array(
    Type.Object({
      model: text,
      service_tier: Type.Union([text, Type.Null()], {
        description:
          'The service tier without a price, which costs the usual one; null: the model has none and costs 0.',
      }),
      calls: count,
      spans: count,
      tokens: Type.Integer({ minimum: 0, description: 'All tokens of these calls and spans.' }),
    }),
    { description: 'Models on record without a price in this file, those with most tokens first.' },
  ),
})

const factor = Type.String({ description: 'A factor, such as `0.5`.' })
const entryAnswer = Type.Object({
  model: text,
  listed: Type.String({ description: 'The name or pattern in the file that applies.' }),
  region: Type.Union([text, Type.Null()], { description: 'The region that the name says, such as `us`.' }),
  ...parts,
  tiers,
  service_tiers: Type.Record(Type.String(), Type.Union([factor, Type.Object({ ...parts, tiers })]), {
    description: 'By service tier: a factor on the price, or prices of its own.',
  }),
  regions: Type.Record(Type.String(), factor, { description: 'By the place that answers: a factor on the price.' }),
  source: textOrNull,
  note: orNull(text),
})

const modelQuery = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 300, description: 'Name of a model as a request or a reply says it.' }),
})

/** Routes of the price file, below `/api/v1`. */
export const priceRoutes = (app: FastifyInstance, gateway: Gateway, pricing: Pricing): void => {
  const report = routeSchema('The price file, its age, and models on record without a price', {
    response: { 200: reportAnswer },
  })
  app.get<{ Querystring: RawQuery }>('/prices', { schema: report }, async ({ query }) => {
    rejectUnknown(query, [])
    await pricing.check()
    return priceReport(gateway, pricing)
  })

  const one = routeSchema('The price of a model', { querystring: modelQuery, response: { 200: entryAnswer } })
  app.get<{ Querystring: RawQuery }>('/prices/model', { schema: one }, async ({ query }) => {
    rejectUnknownFilters(query, modelQuery)
    await pricing.check()
    const entry = priceEntry(pricing.prices, String(query.model ?? ''))
    if (entry !== undefined) return entry
    const { file } = pricing.health()
    const where = file === null ? 'No price file is configured' : `The price file ${file} has none`
    throw new GuardError(replayErrors.NO_PRICE, `There is no price for "${String(query.model ?? '')}". ${where}.`, {
      path: '/model',
    })
  })
}

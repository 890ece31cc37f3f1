import { Type } from 'guard-gateway/lib/json'
import type { Static } from 'typebox'
import { caSchema, proxySchema } from './schema-network.ts'

const receiverSchema = Type.Object(
  {
    url: Type.String({ minLength: 1, description: 'such as https://collector.example/v1/traces' }),
    headers: Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
      default: {},
      description: `sent with each request; best as references to the environment, \${NAME}`,
    }),
    proxy: proxySchema,
    ca: caSchema,
    projects: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: 'whose spans are sent; all if absent' }),
    ),
    compression: Type.Enum(['gzip', 'none'], {
      default: 'gzip',
      description: 'gzip or none: the content encoding of what is sent; some receivers read plain bodies only',
    }),
    timeout_ms: Type.Integer({
      minimum: 1,
      maximum: 600_000,
      default: 10_000,
      description: 'how long an answer may take',
    }),
    max_queue: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 2_048,
      description: 'spans that may wait; the oldest are dropped',
    }),
  },
  { additionalProperties: false },
)

export const otlpExportSchema = Type.Array(receiverSchema, {
  default: [],
  description: 'OTLP to: [{ url, headers, proxy, ca, projects, compression, timeout_ms, max_queue }]',
})

/** A receiver with its defaults. */
export type OtlpReceiverConfig = Static<typeof receiverSchema>

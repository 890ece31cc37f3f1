import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { caSchema, proxySchema } from './schema-network.ts'

const url = (path: string) => Type.String({ minLength: 1, description: `such as https://collector.example${path}` })

/** How a receiver is reached, and what goes to it. */
const reached = {
  headers: Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
    default: {},
    description: `sent with each request; best as references to the environment, \${NAME}`,
  }),
  proxy: proxySchema,
  ca: caSchema,
  projects: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      description: 'whose spans or records are sent; all if absent',
    }),
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
    description: 'how many may wait; the oldest are dropped',
  }),
}

const receiverSchema = Type.Object({ url: url('/v1/traces'), ...reached }, { additionalProperties: false })

/** A receiver of OTLP logs, or a file; checked for being one of them. */
const auditPlaceSchema = Type.Object(
  {
    url: Type.Optional(url('/v1/logs')),
    file: Type.Optional(Type.String({ minLength: 1, description: 'a record a line, relative to this file' })),
    ...reached,
  },
  { additionalProperties: false },
)

export const auditExportSchema = Type.Array(auditPlaceSchema, {
  default: [],
  description: '[{ url or file, headers, proxy, ca, projects, compression, timeout_ms, max_queue }]',
})

export const otlpExportSchema = Type.Array(receiverSchema, {
  default: [],
  description: 'OTLP to: [{ url, headers, proxy, ca, projects, compression, timeout_ms, max_queue }]',
})

/** A receiver with its defaults. */
export type OtlpReceiverConfig = Static<typeof receiverSchema>

/** A place for audit records with its defaults. */
export type AuditPlaceConfig = Static<typeof auditPlaceSchema>

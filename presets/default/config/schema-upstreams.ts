import type { Static } from 'typebox'
import { circuitDefaults, timeoutDefaults } from '#lib/config-defaults'
import { Type } from '#lib/json'
import { caSchema, proxySchema, section } from './schema-network.ts'

const milliseconds = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 86_400_000, default: value, description })
const strings = (options: { minItems?: number; default?: string[]; description: string }) =>
  Type.Array(Type.String({ minLength: 1 }), options)
const map = (description: string) =>
  Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), { default: {}, description })

const timeoutsSchema = Type.Object(
  {
    connect_ms: milliseconds(timeoutDefaults.connect_ms, 'TCP and TLS connection'),
    headers_ms: milliseconds(timeoutDefaults.headers_ms, 'first byte of the answer'),
    idle_ms: milliseconds(timeoutDefaults.idle_ms, 'silence between two chunks'),
    total_ms: milliseconds(timeoutDefaults.total_ms, 'the whole call; 0 is no limit'),
  },
  section,
)

const circuitSchema = Type.Object(
  {
    failures: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: circuitDefaults.failures,
      description: 'so many in a row, and it is not asked for a while; 0: never',
    }),
    open_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: circuitDefaults.open_seconds,
      description: 'for so long; then one request tries',
    }),
  },
  section,
)

const upstreamSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$', description: 'unique; shown in records and metrics' }),
    base_url: Type.String({ minLength: 1, description: 'with or without a trailing /v1' }),
    api_key: Type.Optional(
      Type.String({
        minLength: 1,
        description: `best as a reference to the environment, \${NAME}; api_keys: [..] for several`,
      }),
    ),
    api_keys: strings({
      default: [],
      description: 'several, in place of api_key: after 401, 402 or 429 the next; that key rests',
    }),
    key_order: Type.Enum(['in_order', 'round_robin'], {
      default: 'in_order',
      description: 'in_order: the first key that does not rest; round_robin: each in its turn',
    }),
    auth: Type.Enum(['auto', 'bearer', 'x-api-key', 'api-key', 'none', 'passthrough'], {
      default: 'auto',
      description: 'auto, bearer, x-api-key, api-key, none; passthrough: the login of the client',
    }),
    styles: strings({ minItems: 1, description: 'messages, responses, chat_completions, gemini, ollama' }),
    projects: strings({ default: [], description: 'whose requests it gets, as [shop]; empty: those of all projects' }),
    models: strings({ minItems: 1, default: ['*'], description: 'globs' }),
    headers: map('set on every request'),
    timeouts: timeoutsSchema,
    client: Type.String({
      minLength: 1,
      default: 'undici',
      description: 'what speaks to it: undici, or the client of a plugin',
    }),
    proxy: proxySchema,
    ca: caSchema,
    inject_stream_usage: Type.Boolean({ default: false, description: 'ask chat streams for their usage' }),
    on_disconnect: Type.Enum(['abort', 'drain'], {
      default: 'abort',
      description: 'abort or drain the reply of a client that leaves',
    }),
    websocket: Type.Enum(['auto', 'on', 'off'], {
      default: 'auto',
      description: 'WebSockets lead here: on, off; auto: if no other entry serves responses',
    }),
    fallback: strings({
      default: [],
      description: 'names tried next when nothing was answered, as far as they speak the style',
    }),
    fallback_on: Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), {
      default: [],
      description: 'statuses that lead there too, as [429, 401]; it then rests for its retry-after',
    }),
    circuit: circuitSchema,
    model_map: map('requested model to the one sent'),
    paths: map('style, or models for their list, to the path behind base_url'),
  },
  { additionalProperties: false },
)

/** Upstreams of model requests; if absent, the public services whose key is in the environment. */
export const upstreamsSchema = Type.Array(upstreamSchema, {
  default: [],
  description: 'where requests go: the first entry that serves style and model',
})

/** Path globs that are forwarded unguarded. */
export const passthroughSchema = Type.Array(Type.String({ pattern: '^/' }), {
  default: [],
  description: 'paths forwarded unguarded, for example "/v1/embeddings"',
})

/** An upstream with its defaults. */
export type UpstreamConfig = Static<typeof upstreamSchema>

import { type Static, type TEnum, Type } from 'typebox'
import { mcpSchema } from './schema-mcp.ts'
import { passthroughSchema, upstreamsSchema } from './schema-upstreams.ts'

const strict = { additionalProperties: false }
const section = { additionalProperties: false, default: {} }
const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })
const seconds = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 86_400, default: value, description })
const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })
const words = (description: string) => Type.Array(Type.String({ minLength: 1 }), { default: [], description })
const oneOf = <V extends string[]>(values: readonly [...V], description: string): TEnum<V> =>
  Type.Enum<V>(values, { default: values[0], description })

const serverSchema = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      default: '127.0.0.1',
      description: 'address to listen on; another one than loopback needs --allow-remote',
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8787,
      description: 'port to listen on; 0 lets the system choose',
    }),
    allow_mode_header: flag(false, 'honour the header x-guard-mode of a request'),
    allowed_hosts: words('further host names the gateway answers to'),
    body_limit_bytes: count(67_108_864, 'largest request body, as sent and inflated'),
    shutdown_grace_seconds: seconds(30, 'how long open replies may go on after a stop signal'),
    write_idle_seconds: seconds(300, 'a client that takes no byte for so long counts as gone'),
    max_connections: count(4096, 'open connections'),
    max_in_flight: count(2000, 'model requests under way'),
    buffer_bytes: count(268_435_456, 'bytes of request bodies held at once'),
    block_status_override: Type.Record(Type.String({ minLength: 1 }), Type.Enum([400, 402, 403]), {
      default: {},
      description: 'user-agent glob to the status a block gets instead: 400, 402 or 403',
    }),
  },
  section,
)

const storageSchema = Type.Object(
  {
    backend: oneOf(['sqlite', 'memory'], 'sqlite keeps a file, memory forgets everything at the end'),
    file: Type.String({ minLength: 1, default: 'guard.db', description: 'database file, relative to this file' }),
    synchronous: oneOf(['normal', 'full'], 'normal survives the death of the process, full a power cut too'),
    full_content_logging: flag(false, 'keep redacted previews of at most 500 characters'),
    on_failure: oneOf(['refuse', 'forward'], 'what happens to shadow-mode requests that cannot be recorded'),
  },
  section,
)

const redactionSchema = Type.Object(
  {
    names: words('further names whose values are secret'),
    patterns: words('further secrets as regular expressions (RE2 syntax)'),
    emails: flag(true, 'hide e-mail addresses'),
  },
  section,
)

const limit = (value: number, description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { default: value, description })

const replaySchema = Type.Object(
  {
    pricing: Type.String({ default: '', description: 'file with model prices; GUARD_MODEL_PRICING goes before it' }),
    max_body_bytes: count(4_194_304, 'largest ingest request, as sent and inflated'),
    max_import_bytes: count(67_108_864, 'largest import file, as sent and inflated'),
    retention: Type.Object(
      {
        days: limit(30, 'older runs are removed; null keeps them'),
        max_runs: limit(100_000, 'oldest runs beyond this are removed; null keeps them'),
        max_bytes: limit(2_147_483_648, 'oldest runs are removed while the database is larger; null keeps them'),
        audit_days: limit(90, 'older records of MCP decisions are removed once their run is; null keeps them'),
        max_audit_records: limit(1_000_000, 'oldest records beyond this are removed likewise; null keeps them'),
      },
      section,
    ),
  },
  section,
)

/** Everything guard-config.yml may say. Defaults and one-line meanings stand here and nowhere else. */
export const configSchema = Type.Object(
  {
    gateway_key: Type.String({ description: 'the key that clients send to this gateway' }),
    default_mode: oneOf(['shadow', 'enforce'], 'shadow only reports what a rule finds, enforce blocks it'),
    server: serverSchema,
    storage: storageSchema,
    sessions: Type.Object(
      {
        idle_timeout_minutes: Type.Integer({
          minimum: 1,
          maximum: 525_600,
          default: 30,
          description: 'after so long without a request an unnamed session ends',
        }),
      },
      section,
    ),
    replay: replaySchema,
    redaction: redactionSchema,
    mcp: mcpSchema,
    hide_denied_tools: flag(
      false,
      'take tools that a policy denies by name out of the list; a policy may say otherwise',
    ),
    upstreams: upstreamsSchema,
    passthrough: passthroughSchema,
    preset: oneOf(['default', 'minimal', 'enforce-recommended', 'mcp-stdio', 'mcp-serve'], 'which set of plugins runs'),
    plugins: words('files with plugins of your own, relative to this file'),
  },
  strict,
)

/** A complete configuration: every default filled in, paths absolute, references to the environment resolved. */
export type Config = Static<typeof configSchema>

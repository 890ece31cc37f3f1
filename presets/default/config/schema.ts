import type { Static, TEnum } from 'typebox'
import { Type } from '#lib/json'
import { emptyConfig } from './defaults.ts'
import { mcpSchema } from './schema-mcp.ts'
import { caSchema, count, networkSchema, proxySchema, section } from './schema-network.ts'
import { otlpExportSchema } from './schema-otlp.ts'
import { pluginsSchema } from './schema-plugins.ts'
import { passthroughSchema, upstreamsSchema } from './schema-upstreams.ts'

const { notify } = emptyConfig()

/** What the notifier's own schema says of it is checked once all plugins are there. */
const receiverSchema = Type.Object(
  {
    notifier: Type.String({
      minLength: 1,
      description: 'webhook, slack, ntfy or command; or one of your own by its id',
    }),
    url: Type.Optional(Type.String({ minLength: 1 })),
    proxy: proxySchema,
    ca: caSchema,
  },
  { additionalProperties: true },
)

const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description }))

const ruleSchema = Type.Object(
  {
    events: names('what is told; all if absent'),
    projects: names('of these projects alone; all if absent'),
    to: names('receivers by name; all if absent'),
    every_minutes: Type.Integer({
      minimum: 1,
      maximum: 10_080,
      default: 5,
      description: 'at most one message about the same thing in so long',
    }),
  },
  { additionalProperties: false },
)

/** The section `notify`: who is told of what happens. */
const notifySchema = Type.Object(
  {
    base_url: Type.String({
      default: notify.base_url,
      description: 'what links in messages begin with; the address of this gateway if empty',
    }),
    receivers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), receiverSchema, {
      default: notify.receivers,
      additionalProperties: false,
      description: 'name to { notifier: webhook, slack, ntfy or command, … }: who is told',
    }),
    rules: Type.Array(ruleSchema, {
      default: notify.rules,
      description: '[{ events, projects, to, every_minutes: 5 }]; none: all to everybody',
    }),
  },
  section,
)

const scopes = Type.Array(
  Type.Enum(['models', 'mcp', 'ingest', 'read', 'operate', 'admin'], {
    description: 'models, mcp, ingest, read, operate or admin',
  }),
)

/** Section `server.auth_proxy`: who vouches for people, and what these may do. */
const authProxySchema = Type.Object(
  {
    header: Type.String({
      default: '',
      description: 'header of a proxy in front that names a person it knows, as x-forwarded-user',
    }),
    from: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'addresses of such proxies, networks as 10.1.0.0/16; nobody else is believed',
    }),
    groups_header: Type.String({ default: '', description: 'header that lists the groups of the person, with commas' }),
    scopes: Type.Record(Type.String({ minLength: 1 }), scopes, {
      default: {},
      description: 'person to scopes: read, operate, admin; default: of everybody who is not named',
    }),
    groups: Type.Record(Type.String({ minLength: 1 }), scopes, {
      default: {},
      description: 'group to scopes, in addition',
    }),
    projects: Type.Record(Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 })), {
      default: {},
      description: 'person to the projects that they see, default as above; empty: all see all',
    }),
  },
  section,
)

const { default_mode, server, storage, memory, sessions, budgets, replay, redaction, ...rest } = emptyConfig()
const seconds = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 86_400, default: value, description })
const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })
const strings = (description: string) => Type.Array(Type.String({ minLength: 1 }), { default: [], description })
const oneOf = <V extends string[]>(values: readonly [...V], value: V[number], description: string): TEnum<V> =>
  Type.Enum<V>(values, { default: value, description })

const file = (description: string) => Type.String({ default: '', description })

const serverSchema = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      default: server.host,
      description: 'address to listen on; another one than loopback needs allow_remote',
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: server.port,
      description: 'port to listen on; 0 lets the system choose',
    }),
    allow_remote: flag(server.allow_remote, 'let other machines in, as --allow-remote; it then asks for keys'),
    auth_proxy: authProxySchema,
    tls: Type.Object(
      {
        cert: file('PEM file of a certificate and its chain: TLS alone is served then'),
        key: file('PEM file of its private key'),
        passphrase: file('passphrase of an encrypted key, best a reference to the environment'),
        ca: file('PEM file of a private authority that signed it, for commands to trust'),
      },
      section,
    ),
    allow_mode_header: flag(server.allow_mode_header, 'honour the header x-guard-mode of a request'),
    allowed_hosts: strings('further host names the gateway answers to'),
    allowed_origins: strings('web origins of its pages behind a proxy, as https://guard.example:8443'),
    body_limit_bytes: count(server.body_limit_bytes, 'largest request body, as sent and inflated'),
    shutdown_grace_seconds: seconds(
      server.shutdown_grace_seconds,
      'how long open replies may go on after a stop signal',
    ),
    write_idle_seconds: seconds(server.write_idle_seconds, 'a client that takes no byte for so long counts as gone'),
    max_connections: count(server.max_connections, 'open connections'),
    max_in_flight: count(server.max_in_flight, 'model requests under way'),
    websocket_connections: count(server.websocket_connections, 'open WebSockets of clients'),
    buffer_bytes: count(server.buffer_bytes, 'bytes of request bodies held at once'),
    block_status_override: Type.Record(
      Type.String({ minLength: 1 }),
      Type.Unsafe<400 | 402 | 403 | null>({ enum: [400, 402, 403, null] }),
      {
        default: server.block_status_override,
        description: 'user-agent glob to a status for blocks: 400, 402, 403; null: none (see guard doctor)',
      },
    ),
  },
  section,
)

const storageSchema = Type.Object(
  {
    backend: Type.String({
      minLength: 1,
      default: storage.backend,
      description: 'sqlite: a file; postgres: a shared database; memory: nothing; or your own by its id',
    }),
    file: Type.String({
      minLength: 1,
      default: storage.file,
      description: 'sqlite: database file, relative to this file',
    }),
    url: Type.String({
      default: storage.url,
      // the variable keeps the password out of this file
      description: `postgres: its address, best as "\${DATABASE_URL}"`,
    }),
    cluster: Type.String({
      maxLength: 100,
      default: storage.cluster,
      description: 'postgres: whose database it is; gateways that name another one are refused',
    }),
    pool: Type.Integer({
      minimum: 3,
      maximum: 1_000,
      default: storage.pool,
      description: 'postgres: the most connections of this process',
    }),
    synchronous: oneOf(
      ['normal', 'full'],
      storage.synchronous,
      'sqlite: normal survives the death of the process, full a power cut too',
    ),
    max_journal_bytes: Type.Union([Type.Integer({ minimum: 134_217_728 }), Type.Null()], {
      default: storage.max_journal_bytes,
      description: 'sqlite: a longer journal counts as a full disk; null: no limit',
    }),
    full_content_logging: flag(storage.full_content_logging, 'keep redacted previews of at most 500 characters'),
    on_failure: oneOf(
      ['refuse', 'forward'],
      storage.on_failure,
      'refuse or forward shadow-mode requests that cannot be recorded',
    ),
  },
  section,
)

const redactionSchema = Type.Object(
  {
    names: strings('further names whose values are secret'),
    patterns: strings('further secrets as regular expressions (RE2 syntax)'),
    emails: flag(redaction.emails, 'hide e-mail addresses'),
  },
  section,
)

const limit = (value: number, description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { default: value, description })

const replaySchema = Type.Object(
  {
    pricing: Type.String({
      default: replay.pricing,
      description: 'file with model prices, like examples/prices.yml; GUARD_MODEL_PRICING goes before it',
    }),
    max_body_bytes: count(replay.max_body_bytes, 'largest ingest request, as sent and inflated'),
    max_otlp_bytes: count(replay.max_otlp_bytes, 'largest request of an OpenTelemetry exporter, as sent and inflated'),
    max_import_bytes: count(replay.max_import_bytes, 'largest import file, as sent and inflated'),
    retention: Type.Object(
      {
        days: limit(replay.retention.days, 'older runs are removed; null keeps them'),
        max_runs: limit(replay.retention.max_runs, 'oldest runs beyond this are removed; null keeps them'),
        max_bytes: limit(
          replay.retention.max_bytes,
          'oldest runs are removed while the database is larger; null keeps them',
        ),
        audit_days: limit(
          replay.retention.audit_days,
          'older records of MCP decisions are removed once their run is; null keeps them',
        ),
        max_audit_records: limit(
          replay.retention.max_audit_records,
          'oldest records beyond this are removed likewise; null keeps them',
        ),
      },
      section,
    ),
    otlp_export: otlpExportSchema,
  },
  section,
)

/** Schema of guard-config.yml. The descriptions appear in the written file. */
export const configSchema = Type.Object(
  {
    gateway_key: Type.String({
      description: 'the key that clients send to this gateway; a first start without a file makes one',
    }),
    default_mode: oneOf(
      ['shadow', 'enforce'],
      default_mode,
      'shadow only reports what a rule finds, enforce blocks it',
    ),
    server: serverSchema,
    storage: storageSchema,
    memory: Type.Object(
      {
        budget_bytes: Type.Integer({
          minimum: 0,
          default: memory.budget_bytes,
          description: 'histories, bodies, caches and open runs; 0: 48 to 512 MiB, by the machine',
        }),
      },
      section,
    ),
    sessions: Type.Object(
      {
        idle_timeout_minutes: Type.Integer({
          minimum: 1,
          maximum: 525_600,
          default: sessions.idle_timeout_minutes,
          description: 'after so long without a request an unnamed session ends',
        }),
      },
      section,
    ),
    budgets: Type.Object(
      {
        time_zone: Type.String({
          default: budgets.time_zone,
          description: 'in which days of budgets begin, as Europe/Berlin; empty: the system’s',
        }),
      },
      section,
    ),
    replay: replaySchema,
    redaction: redactionSchema,
    mcp: mcpSchema,
    notify: notifySchema,
    hide_denied_tools: flag(
      rest.hide_denied_tools,
      'take tools that a policy denies by name out of the list; a policy may say otherwise',
    ),
    network: networkSchema,
    upstreams: upstreamsSchema,
    passthrough: passthroughSchema,
    preset: oneOf(
      ['default', 'minimal', 'enforce-recommended', 'mcp-stdio', 'mcp-serve'],
      rest.preset,
      'plugins that run: default, minimal, enforce-recommended, mcp-serve or mcp-stdio',
    ),
    plugins: pluginsSchema,
  },
  { additionalProperties: false },
)

/** A complete configuration: defaults filled in, paths absolute, references resolved. */
export type Config = Static<typeof configSchema>

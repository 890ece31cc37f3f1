import { mcpBundleDefaults } from '#lib/config-defaults'
import { Type } from '#lib/json'
import { addressedServer, emptyConfig } from './defaults.ts'
import { caSchema, count, proxySchema, section } from './schema-network.ts'
import { auditExportSchema } from './schema-otlp.ts'

const { mcp } = emptyConfig()
const server = addressedServer()
const texts = (value: Readonly<Record<string, string>>, description: string) =>
  Type.Record(Type.String({ minLength: 1 }), Type.String(), { default: value, description })

const optional = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

/** Absent: nobody logs in. */
const loginSchema = Type.Optional(
  Type.Object(
    {
      per: Type.Unsafe<'server' | 'agent'>({
        type: 'string',
        enum: ['server', 'agent'],
        default: 'server',
        description: 'server: one login for all who use it; agent: one for each agent, known by its key',
      }),
      client_id: optional('of a client that you have registered there; else the gateway registers itself'),
      client_secret: optional('of that client; name a variable of the environment'),
      client_metadata_url: optional('https address of a client ID metadata document, where the server reads such'),
      issuer: optional('authorization server, if not the first that the MCP server names'),
      scopes: Type.Optional(
        Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]+$' }), {
          description: 'asked for in place of what the server names',
        }),
      ),
      redirect_uri: optional('where browsers come back to on their machine; http://127.0.0.1/callback if absent'),
    },
    { additionalProperties: false, description: 'people log in by OAuth, with guard mcp login' },
  ),
)

const serverSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, description: 'name to show; the id if absent' })),
    transport: Type.String({
      minLength: 1,
      default: server.transport,
      description: 'http for an address (sse: one of the older HTTP+SSE), stdio for a program',
    }),
    target: Type.Optional(Type.String({ description: 'address of the MCP endpoint, for http' })),
    proxy: proxySchema,
    ca: caSchema,
    headers: texts(server.headers, 'sent with each request, for http; a value may name a variable of the environment'),
    login: loginSchema,
    timeout_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: server.timeout_seconds,
      description: 'how long a server may take to begin its answer',
    }),
    insecure: Type.Boolean({
      default: server.insecure,
      description: 'allow plain http: to a host that is not this machine',
    }),
    command: Type.Optional(Type.String({ minLength: 1, description: 'program, for stdio' })),
    args: Type.Array(Type.String(), { default: server.args, description: 'arguments of the program' }),
    env: texts(server.env, 'added to the environment of the program, which is HOME, PATH and the like'),
    cwd: Type.Optional(Type.String({ minLength: 1, description: 'folder of the program, relative to this file' })),
  },
  { additionalProperties: false },
)
const id = Type.String({ pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$' })
const serversSchema = Type.Record(id, serverSchema, {
  additionalProperties: false,
  default: mcp.servers,
  description: 'by id, as docs: { target: "http://127.0.0.1:3000/mcp" }, served at /mcp/docs',
})

/** As model APIs take names of tools. */
const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' })
const memberSchema = Type.Object(
  {
    prefix: Type.Optional(
      Type.String({ pattern: '^[a-zA-Z0-9_-]{0,32}$', description: 'what its names begin with; "" for nothing' }),
    ),
    rename: Type.Record(Type.String({ minLength: 1 }), toolName, {
      default: {},
      description: 'other names of tools and prompts, by those of the server',
    }),
    hide: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'names that the bundle leaves out; * stands for anything',
    }),
  },
  { additionalProperties: false },
)
const bundleSchema = Type.Object(
  {
    servers: Type.Record(id, memberSchema, { default: {}, description: 'by id, as git: {}; all if there is none' }),
    names: Type.Enum(['prefix', 'as_is'], {
      default: 'prefix',
      description: 'prefix: names begin with the id of their server; as_is: they stay',
    }),
    wait_seconds: count(mcpBundleDefaults.wait_seconds, 'how long a slow server may hold up the others'),
  },
  { additionalProperties: false },
)
const bundlesSchema = Type.Record(id, bundleSchema, {
  additionalProperties: false,
  default: mcp.bundles,
  description: 'several servers at one address, as work: { servers: { docs: {} } }; all at /mcp/all',
})

/** Section `mcp`: the permission proxy, its policy and its servers. */
export const mcpSchema = Type.Object(
  {
    policy: Type.String({
      default: mcp.policy,
      description: 'policy file, relative to this file; read anew when it changes',
    }),
    approval_timeout_seconds: count(
      mcp.approval_timeout_seconds,
      'how long a question waits for its answer, and a yes for the retry',
    ),
    approver_key: Type.String({
      default: mcp.approver_key,
      description: 'needed to approve, resume, change rules and issue keys; plain or sha256:<hex>',
    }),
    login_key: Type.String({
      default: mcp.login_key,
      description: 'encrypts logins at servers: 32 bytes in base64; empty: made in a file by the database',
    }),
    allowed_origins: Type.Union([Type.Array(Type.String({ minLength: 1 })), Type.Null()], {
      default: mcp.allowed_origins,
      description: 'web origins that may speak MCP; null: those of this gateway',
    }),
    allowed_hosts: Type.Array(Type.String({ minLength: 1 }), {
      default: mcp.allowed_hosts,
      description: 'further host names under which MCP is served',
    }),
    session_idle_seconds: count(
      mcp.session_idle_seconds,
      'a session without traffic and open streams ends after so long',
    ),
    child_idle_seconds: count(
      mcp.child_idle_seconds,
      'a stdio server ends after so long without use; a request starts it again',
    ),
    limits: Type.Object(
      {
        frame_bytes: Type.Integer({
          // a smaller limit would reject initialize
          minimum: 1_000,
          default: mcp.limits.frame_bytes,
          description: 'largest message, in bytes',
        }),
        sessions: count(mcp.limits.sessions, 'open sessions'),
        pending: count(mcp.limits.pending, 'requests of a session that wait for their answers, each way'),
      },
      section,
    ),
    audit_export: auditExportSchema,
    servers: serversSchema,
    bundles: bundlesSchema,
  },
  section,
)

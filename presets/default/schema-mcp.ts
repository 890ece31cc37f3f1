import { Type } from 'typebox'

const section = { additionalProperties: false, default: {} }
const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })
const texts = (description: string) =>
  Type.Record(Type.String({ minLength: 1 }), Type.String(), { default: {}, description })

const serverSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, description: 'name to show; the id if absent' })),
    transport: Type.String({ minLength: 1, default: 'http', description: 'http for an address, stdio for a program' }),
    target: Type.Optional(Type.String({ description: 'address of the MCP endpoint, for http' })),
    headers: texts('sent with each request, for http; a value may name a variable of the environment'),
    timeout_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 300,
      description: 'how long a server may take to begin its answer',
    }),
    insecure: Type.Boolean({ default: false, description: 'allow plain http: to a host that is not this machine' }),
    command: Type.Optional(Type.String({ minLength: 1, description: 'program, for stdio' })),
    args: Type.Array(Type.String(), { default: [], description: 'arguments of the program' }),
    env: texts('added to the environment of the program, which is HOME, PATH and the like'),
    cwd: Type.Optional(Type.String({ minLength: 1, description: 'folder of the program, relative to this file' })),
  },
  { additionalProperties: false },
)
const serversSchema = Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), serverSchema, {
  additionalProperties: false,
  default: {},
  description: 'by id, as docs: { target: "http://127.0.0.1:3000/mcp" }, served at /mcp/docs',
})

/** The section `mcp`: the permission proxy, its policy and the servers behind it. */
export const mcpSchema = Type.Object(
  {
    policy: Type.String({ default: '', description: 'policy file, relative to this file; read anew when it changes' }),
    approval_timeout_seconds: count(300, 'how long a question waits for its answer, and a yes for the retry'),
    approver_key: Type.String({
      default: '',
      description: 'what an approver must show, plain or as sha256:<hex>; empty lets every local program',
    }),
    allowed_origins: Type.Union([Type.Array(Type.String({ minLength: 1 })), Type.Null()], {
      default: null,
      description: 'web origins that may speak MCP; null: those of this gateway',
    }),
    allowed_hosts: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'further host names under which MCP is served',
    }),
    session_idle_seconds: count(28_800, 'a session without traffic and open streams ends after so long'),
    limits: Type.Object(
      {
        frame_bytes: count(16_777_216, 'largest message'),
        sessions: count(1000, 'open sessions'),
        pending: count(1024, 'requests of a session that wait for their answers, each way'),
      },
      section,
    ),
    servers: serversSchema,
  },
  section,
)

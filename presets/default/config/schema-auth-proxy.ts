import { Type } from 'guard-gateway/lib/json'
import { section } from './schema-parts.ts'

const scopes = Type.Array(
  Type.Enum(['models', 'mcp', 'ingest', 'read', 'operate', 'admin'], {
    description: 'models, mcp, ingest, read, operate or admin',
  }),
)

/** Section `server.auth_proxy`: who vouches for people, and what these may do. */
export const authProxySchema = Type.Object(
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

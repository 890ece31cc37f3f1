import type { AuthProxyOptions } from './admission/auth-proxy.ts'
import type { TlsFiles } from './tls/credentials.ts'

/** What the HTTP server needs of the configuration's `server` section. */
export interface ServerOptions {
  readonly host: string
  readonly port: number
  /** Another address than loopback may be listened on. */
  readonly allow_remote: boolean
  /** The certificate to serve by TLS; `cert` is empty where none is. */
  readonly tls: TlsFiles
  /** A proxy in front that authenticates people; `header` is empty where there is none. */
  readonly auth_proxy: AuthProxyOptions
  readonly allow_mode_header: boolean
  /** Further host names, in any case, without port. */
  readonly allowed_hosts: readonly string[]
  /** Web origins of the gateway's own pages where a proxy in front of it ends TLS: `https://guard.example`. */
  readonly allowed_origins: readonly string[]
  /** Of a model request, as sent and inflated. */
  readonly body_limit_bytes: number
  readonly shutdown_grace_seconds: number
  readonly write_idle_seconds: number
  readonly max_connections: number
  readonly max_in_flight: number
  /** Bytes of model request bodies held at once. */
  readonly buffer_bytes: number
  /** User-agent glob to the status a blocked request of such a client gets; null: that of the block, also where another is built in. */
  readonly block_status_override: Readonly<Record<string, number | null>>
}

export interface HttpOptions {
  readonly gateway_key: string
  readonly server?: Partial<ServerOptions>
  /** Path globs below /v1 that are forwarded unguarded. */
  readonly passthrough?: readonly string[]
  /** Hosts and web origins that the MCP transport and its management accept besides the gateway's own. */
  readonly mcp?: { readonly allowed_hosts?: readonly string[]; readonly allowed_origins?: readonly string[] | null }
}

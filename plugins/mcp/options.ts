import type { McpLoginSettings } from '#lib/mcp-transport'

/** A server behind the proxy, as the configuration names it. */
export interface McpServerOptions {
  readonly name?: string
  /** Id of a transport: `http`, `stdio`. */
  readonly transport: string
  /** Address of the MCP endpoint, for `http`. */
  readonly target?: string
  /** Address of the proxy on the way there; `none` or absent: there is none. */
  readonly proxy?: string
  /** Certificate authorities that are trusted in addition to those of Node: certificates as PEM. */
  readonly ca?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** People log in at it by OAuth; absent: nobody does. */
  readonly login?: McpLoginSettings
  /** Plain http to a host that is not this machine is allowed. */
  readonly insecure?: boolean
  readonly timeout_seconds?: number
  /** Program, arguments and folder, for `stdio`. */
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** A server within a bundle. Tools and prompts are called by the same rules. */
export interface BundleMemberOptions {
  /** What stands before its names; empty: they stay as they are. Absent: as `names` of the bundle says. */
  readonly prefix?: string
  /** Other names, by the server's own. */
  readonly rename?: Readonly<Record<string, string>>
  /** Names, or patterns with `*`, that the bundle does not have. */
  readonly hide?: readonly string[]
}

/** Several servers behind one address. */
export interface BundleOptions {
  /** By ids of servers; all configured servers if there is none. */
  readonly servers?: Readonly<Record<string, BundleMemberOptions>>
  /** `prefix`: names begin with the id of their server; `as_is`: they stay as they are. */
  readonly names?: 'prefix' | 'as_is'
  /** For how long a server may hold up the others at `initialize` and in lists. */
  readonly wait_seconds?: number
}

/** Bounds of what a client or a server can make the proxy hold. */
export interface McpLimits {
  readonly frame_bytes: number
  readonly sessions: number
  readonly pending: number
}

/** The section `mcp` of the configuration. Paths are absolute. */
export interface McpOptions {
  /** The policy file; empty for none. */
  readonly policy?: string
  readonly approval_timeout_seconds?: number
  /** What decisions about approvals must show, as it is or as `sha256:<hex>`. */
  readonly approver_key?: string
  readonly session_idle_seconds?: number
  /** How long the child of a session may be without use; the session continues. */
  readonly child_idle_seconds?: number
  readonly limits?: Partial<McpLimits>
  readonly servers?: Readonly<Record<string, McpServerOptions>>
  /** What logins are encrypted with: 32 bytes in base64 or hex; empty: a key in `login_key_file`. */
  readonly login_key?: string
  /** Absolute; absent: logins end with this process. */
  readonly login_key_file?: string
  /** Bundles by their ids, besides `all`. */
  readonly bundles?: Readonly<Record<string, BundleOptions>>
  /** What the configuration puts into the environment of servers, by their ids, where they are not served here. */
  readonly server_env?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Default of the policy's key of this name. */
  readonly hide_denied_tools?: boolean
  /** Files of the gateway itself, absolute: no path that a check examines may name one. */
  readonly own_files?: readonly string[]
  /** False: the storage ends with this process, so that no other process can decide its approvals. */
  readonly durable?: boolean
  /** Keep previews of arguments when they are not needed any more. */
  readonly full_content_logging?: boolean
  /** Of this process; what of it a server's child gets is decided by rule. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

import {
  mcpBundleDefaults,
  mcpDefaults,
  mcpServerDefaults,
  memoryDefaults,
  replayDefaults,
  serverDefaults,
  sessionDefaults,
} from '#lib/config-defaults'

/**
 * The configuration of an empty file, without a key and upstreams. It is enough for commands that call a gateway.
 * The schema takes its defaults from here. Loading the schema libraries takes longer than the start of a small command.
 */
export const emptyConfig = () => ({
  gateway_key: '',
  default_mode: 'shadow' as const,
  server: structuredClone(serverDefaults),
  storage: {
    backend: 'sqlite',
    file: 'guard.db',
    url: '',
    cluster: '',
    pool: 10,
    synchronous: 'normal' as const,
    max_journal_bytes: null as number | null,
    full_content_logging: false,
    on_failure: 'refuse' as const,
  },
  memory: { ...memoryDefaults },
  sessions: { ...sessionDefaults },
  budgets: { time_zone: '' },
  replay: { ...structuredClone(replayDefaults), otlp_export: [] },
  redaction: { names: [], patterns: [], emails: true },
  mcp: {
    policy: '',
    approval_timeout_seconds: mcpDefaults.approval_timeout_seconds,
    approver_key: '',
    login_key: '',
    allowed_origins: null,
    allowed_hosts: [],
    session_idle_seconds: mcpDefaults.session_idle_seconds,
    child_idle_seconds: mcpDefaults.child_idle_seconds,
    limits: { ...mcpDefaults.limits },
    audit_export: [],
    servers: {},
    bundles: {},
  },
  notify: { base_url: '', receivers: {}, rules: [] },
  hide_denied_tools: false,
  network: { proxy: 'environment', no_proxy: [], ca: [] },
  upstreams: [],
  passthrough: [],
  preset: 'default' as const,
  plugins: [],
})

/** The bundle of all servers. */
export const allServers = () => ({
  servers: {},
  names: 'prefix' as const,
  wait_seconds: mcpBundleDefaults.wait_seconds,
})

/** Defaults of an MCP server that has only an address. */
export const addressedServer = () => ({
  transport: 'http',
  headers: {},
  timeout_seconds: mcpServerDefaults.timeout_seconds,
  insecure: false,
  args: [],
  env: {},
})

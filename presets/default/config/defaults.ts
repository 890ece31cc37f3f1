/**
 * The configuration that an empty file means, without a key and without upstreams: enough to ask a gateway what there is.
 * The schema takes its defaults from here and is not needed for them: to load what schemas are made of takes longer than the
 * start of a small command.
 */
export const emptyConfig = () => ({
  gateway_key: '',
  default_mode: 'shadow' as const,
  server: {
    host: '127.0.0.1',
    port: 8787,
    allow_remote: false,
    allow_mode_header: false,
    allowed_hosts: [],
    allowed_origins: [],
    body_limit_bytes: 67_108_864,
    shutdown_grace_seconds: 30,
    write_idle_seconds: 300,
    max_connections: 4096,
    max_in_flight: 2000,
    buffer_bytes: 268_435_456,
    block_status_override: {},
  },
  storage: {
    backend: 'sqlite',
    file: 'guard.db',
    synchronous: 'normal' as const,
    max_journal_bytes: null as number | null,
    full_content_logging: false,
    on_failure: 'refuse' as const,
  },
  sessions: { idle_timeout_minutes: 30 },
  budgets: { time_zone: '' },
  replay: {
    pricing: '',
    max_body_bytes: 4_194_304,
    max_otlp_bytes: 33_554_432,
    max_import_bytes: 67_108_864,
    retention: {
      days: 30,
      max_runs: 100_000,
      max_bytes: 2_147_483_648,
      audit_days: 90,
      max_audit_records: 1_000_000,
    },
    otlp_export: [],
  },
  redaction: { names: [], patterns: [], emails: true },
  mcp: {
    policy: '',
    approval_timeout_seconds: 300,
    approver_key: '',
    allowed_origins: null,
    allowed_hosts: [],
    session_idle_seconds: 28_800,
    child_idle_seconds: 300,
    limits: { frame_bytes: 16_777_216, sessions: 1000, pending: 1024 },
    servers: {},
  },
  hide_denied_tools: false,
  network: { proxy: 'environment', no_proxy: [], ca: [] },
  upstreams: [],
  passthrough: [],
  preset: 'default' as const,
  plugins: [],
})

/** What an MCP server is that is named by its address alone. */
export const addressedServer = () => ({
  transport: 'http',
  headers: {},
  timeout_seconds: 300,
  insecure: false,
  args: [],
  env: {},
})

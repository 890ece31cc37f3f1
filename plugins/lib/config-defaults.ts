/** What a configuration means that says nothing, by its sections; a plugin that is used without one takes the same. Plain data: it loads nothing. */

export const serverDefaults = {
  host: '127.0.0.1',
  port: 8787,
  allow_remote: false,
  auth_proxy: { header: '', from: [], groups_header: '', scopes: {}, groups: {}, projects: {} },
  tls: { cert: '', key: '', passphrase: '', ca: '' },
  allow_mode_header: false,
  allowed_hosts: [],
  allowed_origins: [],
  body_limit_bytes: 67_108_864,
  shutdown_grace_seconds: 30,
  write_idle_seconds: 300,
  max_connections: 4096,
  max_in_flight: 2000,
  websocket_connections: 512,
  buffer_bytes: 268_435_456,
  block_status_override: {},
}

/** What histories, bodies, caches and open runs take together, about. 0: by the memory of the machine. */
export const memoryDefaults = { budget_bytes: 0 }

export const sessionDefaults = { idle_timeout_minutes: 30 }

export const replayDefaults = {
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
}

export const mcpDefaults = {
  approval_timeout_seconds: 300,
  session_idle_seconds: 28_800,
  child_idle_seconds: 300,
  limits: { frame_bytes: 16_777_216, sessions: 1000, pending: 1024 },
}

/** Of a bundle of MCP servers. */
export const mcpBundleDefaults = { wait_seconds: 8 }

/** Of one MCP server. */
export const mcpServerDefaults = { timeout_seconds: 300 }

/** Of one upstream, in milliseconds. */
export const timeoutDefaults = { connect_ms: 10_000, headers_ms: 600_000, idle_ms: 300_000, total_ms: 0 }

/** Of one upstream: how many failures in a row open its circuit (0: none ever do), and for how long. */
export const circuitDefaults = { failures: 0, open_seconds: 30 }

import type { Plugin } from 'guard-gateway/core'
import { cluster } from 'guard-gateway/plugins/cluster'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { mcp } from 'guard-gateway/plugins/mcp'
import { stdio } from 'guard-gateway/plugins/mcp-transports/stdio'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { mcpOptions } from '../default/config/mcp-options.ts'
import type { Config } from '../default/config.ts'
import { configuredFoundation } from '../default/foundation.ts'
import { version } from '../default/version.ts'

/** Preset of `guard mcp run`: the proxy of one server and its records, the checks if there is a policy, and export of spans and notifications if there is a receiver. Nothing listens. */
export const mcpStdioPreset = async (config: Config): Promise<readonly Plugin[]> => [
  ...configuredFoundation(config),
  config.storage.backend === 'postgres' ? postgres(config.storage) : sqlite(config.storage),
  memory(),
  cluster({ version, may_lead: false }),
  json,
  sessions(config.sessions),
  recorder(config.storage),
  replay({ ...config.replay, ...config.sessions }),
  ...(config.mcp.policy === '' ? [] : (await import('./checks.ts')).checks),
  stdio,
  ...(isBundled(config) ? (await import('./bundled.ts')).bundled : []),
  mcp({
    ...mcpOptions(config),
    ...(isBundled(config) ? {} : { servers: {} }),
    server_env: Object.fromEntries(Object.entries(config.mcp.servers).map(([id, { env }]) => [id, env])),
  }),
  ...(sendsNothing(config) && isSilent(config) ? [] : (await import('./push.ts')).push(config)),
  ...(isSilent(config) ? [] : (await import('./notifying.ts')).notifying(config)),
]

const sendsNothing = ({ replay, mcp }: Config): boolean => replay.otlp_export.length + mcp.audit_export.length === 0

/** `guard mcp run --bundle` serves servers of the configuration; without it there is no bundle. */
const isBundled = ({ mcp: { bundles } }: Config): boolean => Object.keys(bundles).length > 0

const isSilent = ({ notify }: Config): boolean => Object.keys(notify.receivers).length === 0

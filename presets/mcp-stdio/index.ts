import type { Plugin } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { mcp } from 'guard-gateway/plugins/mcp'
import { httpHosts } from 'guard-gateway/plugins/mcp-checks/http'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { stdio } from 'guard-gateway/plugins/mcp-transports/stdio'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import type { Config } from 'guard-gateway/presets/default'
import { mcpOptions } from '../default/mcp-options.ts'

/** What `guard mcp run` needs: the proxy in front of one server, its checks and its records, and nothing that listens. */
export const mcpStdioPreset = (config: Config): readonly Plugin[] => [
  sqlite(config.storage),
  memory(),
  json,
  sessions(config.sessions),
  recorder(config.storage),
  replay({ ...config.replay, ...config.sessions }),
  path,
  shell,
  httpHosts,
  size,
  sql,
  stdio,
  mcp({ ...mcpOptions(config), servers: {} }),
]

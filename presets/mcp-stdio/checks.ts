import type { Plugin } from 'guard-gateway/core'
import { httpHosts } from 'guard-gateway/plugins/mcp-checks/http'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'

/** Argument checks that a policy can use. */
export const checks: readonly Plugin[] = [path, shell, httpHosts, size, sql]

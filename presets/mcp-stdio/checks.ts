import type { Plugin } from 'guard-gateway/core'
import { httpHosts } from 'guard-gateway/plugins/mcp-checks/http'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { injection } from 'guard-gateway/plugins/mcp-result-checks/injection'
import { secrets } from 'guard-gateway/plugins/mcp-result-checks/secrets'
import { resultSize } from 'guard-gateway/plugins/mcp-result-checks/size'

/** Checks of arguments and of results that a policy can use. */
export const checks: readonly Plugin[] = [path, shell, httpHosts, size, sql, resultSize, secrets, injection]

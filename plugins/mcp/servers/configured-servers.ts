import type { Gateway } from 'guard-gateway/core'
import { basicEnv } from '#lib/child-env'
import { mcpServerDefaults } from '#lib/config-defaults'
import type { McpServer } from '#lib/mcp-transport'
import type { McpServerOptions } from '../options.ts'

/** The servers of a configuration. `env` is that of this process; of it each gets the basics, and what its own entry names. */
export const serversOf = (
  known: Pick<Gateway, 'secrets' | 'approver'>,
  servers: Readonly<Record<string, McpServerOptions>>,
  env: Readonly<Record<string, string | undefined>>,
): readonly McpServer[] => {
  const basic = basicEnv(env, known)
  return Object.entries(servers).map(([id, options]) => serverOf(id, options, { ...basic, ...options.env }))
}

/** One server; `env` is the whole environment of its child. */
export const serverOf = (
  id: string,
  {
    name,
    transport,
    target,
    proxy,
    ca,
    headers = {},
    timeout_seconds = mcpServerDefaults.timeout_seconds,
    command,
    args = [],
    cwd,
    login,
    insecure = false,
  }: McpServerOptions,
  env: Readonly<Record<string, string>> = {},
): McpServer => ({
  id,
  name: name ?? id,
  transport,
  headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value])),
  timeout_ms: timeout_seconds * 1000,
  args,
  env,
  ...(target === undefined ? {} : { target }),
  ...(proxy === undefined ? {} : { proxy }),
  ...(ca === undefined ? {} : { ca }),
  ...(command === undefined ? {} : { command }),
  ...(cwd === undefined ? {} : { cwd }),
  ...(login === undefined ? {} : { login: { ...login, insecure } }),
})

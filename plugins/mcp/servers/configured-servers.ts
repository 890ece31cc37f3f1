import type { Gateway } from 'guard-gateway/core'
import { childEnv } from 'guard-gateway/lib/child-env'
import { mcpServerDefaults } from 'guard-gateway/lib/config-defaults'
import type { McpServer } from 'guard-gateway/lib/mcp-transport'
import type { McpServerOptions } from '../options.ts'

/** What a child of the gateway gets of its environment: what programs need to run at all, and no credential. */
const basics =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
        'PROGRAMFILES',
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

/** The servers of a configuration. `env` is that of this process; of it each gets the basics, and what its own entry names. */
export const serversOf = (
  known: Pick<Gateway, 'secrets' | 'approver'>,
  servers: Readonly<Record<string, McpServerOptions>>,
  env: Readonly<Record<string, string | undefined>>,
): readonly McpServer[] => {
  const basic = Object.fromEntries(basics.map((name) => [name, env[name]]))
  return Object.entries(servers).map(([id, options]) => {
    const { env: inherited } = childEnv(basic, known)
    return serverOf(id, options, { ...inherited, ...options.env })
  })
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

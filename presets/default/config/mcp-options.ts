import { resolve } from 'node:path'
import type { McpOptions } from 'guard-gateway/plugins/mcp'
import { configFile } from './file.ts'
import type { Config } from './schema.ts'

/** Options of the MCP plugin. */
export const mcpOptions = ({ mcp, storage, hide_denied_tools }: Config): McpOptions => {
  const { approver_key, allowed_origins: _origins, allowed_hosts: _hosts, audit_export, ...options } = mcp
  const durable = storage.backend !== 'memory'
  const login_key_file = `${resolve(storage.file)}.login-key`
  const audits = audit_export.flatMap(({ file }) => file ?? [])
  return {
    ...options,
    ...(approver_key === '' ? {} : { approver_key }),
    hide_denied_tools,
    own_files: [
      configFile(undefined, process.env, process.cwd()).file,
      resolve(storage.file),
      login_key_file,
      ...audits,
    ],
    ...(durable ? { login_key_file } : {}),
    durable,
    full_content_logging: storage.full_content_logging,
  }
}

import type { McpReply } from 'guard-gateway/lib/mcp-transport'
import { NoResponse } from './request.ts'

/** Where somebody must log in, clients show the message alone if the answer has the status of one. */
const statuses = { UPSTREAM_TIMEOUT: 504, UPSTREAM_UNREACHABLE: 502, MCP_LOGIN_NEEDED: 200 } as const

export const failed = (message: string) => ({ form: 'failed', status: 502, code: 'UPSTREAM_FAILED', message }) as const

/** What a client reads where a server gave no answer, or none that can be used. */
export const replyWithout = (error: unknown): McpReply => {
  if (!(error instanceof NoResponse))
    return failed(`The answer of the MCP server cannot be used: ${(error as Error).message}`)
  const { code, message } = error
  return { form: 'failed', status: statuses[code], code, message }
}

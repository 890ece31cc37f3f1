import { Gateway } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { Type } from 'typebox'
import { type McpCheck, mcpCheck } from '#lib/mcp-check'
import { limitTable } from '../../../../plugins/mcp/actions/tables.ts'
import type { ToolCall } from '../../../../plugins/mcp/judge/tool-call.ts'
import { openPolicies, type Policy } from '../../../../plugins/mcp/policy/index.ts'
import { size } from '../../../../plugins/mcp-checks/size.ts'

/** Objects to the words it is given, in the argument `text` or those named. */
export const words = mcpCheck({
  id: 'words',
  schema: Type.Object(
    {
      args: Type.Unsafe<string[]>({ $ref: '#/$defs/pointers' }),
      bad: Type.Unsafe<string[]>({ $ref: '#/$defs/strings' }),
    },
    { additionalProperties: false },
  ),
  find(args, { args: pointers, bad }) {
    return pointers.flatMap((pointer) => {
      const value = String(args[pointer.slice(1)])
      return bad
        .filter((word) => value.includes(word))
        .map((word) => ({ pointer, reason: `says ${word}`, certain: true }))
    })
  },
})

/** A gateway with memory storage, the checks `size` and `words`, and others given. */
export const openGateway = async (...checks: readonly McpCheck[]): Promise<Gateway> => {
  const gateway = new Gateway().use(...foundation(), memory(), size, words, ...checks.map((check) => mcpCheck(check)))
  gateway.tables.add(limitTable)
  return gateway.open()
}

/** A call of a tool as the proxy gives it to the policy. */
export const aCall = (tool: string, args: object = {}, more: Partial<ToolCall> = {}): ToolCall => {
  const text = more.text ?? JSON.stringify(args)
  return {
    server_id: 'fs',
    session_id: 'mcp_1',
    tool,
    arguments: JSON.parse(text) as ToolCall['arguments'],
    cwd: undefined,
    at: Date.UTC(2026, 0, 1),
    ...more,
    text,
  }
}

/** The policy with these rules in force; `default: deny` unless given. */
export const policyOf = async (gateway: Gateway, rules: readonly object[], more: object = {}): Promise<Policy> => {
  const policies = await openPolicies(gateway, { policy: { version: 1, rules, ...more }, fault: gateway.fault })
  return policies.current()
}

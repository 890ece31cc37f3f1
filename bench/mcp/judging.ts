import { Gateway } from 'guard-gateway/core'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { memberIn, sourceOf, stringIn } from '#lib/json'
import { readFrame } from '#lib/json-rpc'
import { limitTable } from '../../plugins/mcp/actions/tables.ts'
import { openPolicies } from '../../plugins/mcp/policy/index.ts'
import { compileSchema } from '../../plugins/mcp/schemas/compile.ts'
import { type Checked, calls, policy, toolList } from './policy.ts'

/** The loaded bench policy. */
export interface Judging {
  /**
   * Judges one call from its bytes: reads the frame, validates the arguments, evaluates 20 rules and one check.
   * Rejects unless the call is allowed.
   */
  judge(checked: Checked): Promise<true>
  close(): Promise<void>
}

export const openJudging = async (): Promise<Judging> => {
  const gateway = new Gateway().use(...foundation(), memory(), path, shell, sql)
  gateway.tables.add(limitTable)
  await gateway.open()
  const policies = await openPolicies(gateway, { policy, fault: gateway.fault })
  const validators = new Map<string, Awaited<ReturnType<typeof compileSchema>>>()
  for (const { name, inputSchema } of toolList.tools) validators.set(name, await compileSchema(inputSchema))
  const frames = Object.fromEntries(
    Object.entries(calls).map(([checked, params]) => [
      checked,
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })),
    ]),
  )
  const judge = async (checked: Checked): Promise<true> => {
    const frame = readFrame(frames[checked] ?? Buffer.alloc(0), 'client')
    if (frame.kind === 'fault') throw new Error(frame.message)
    const args = memberIn(frame.params, 'arguments')?.value
    const tool = stringIn(frame.text, memberIn(frame.params, 'name')?.value) ?? ''
    const text = args === undefined ? '{}' : sourceOf(frame.text, args)
    const given = JSON.parse(text) as Readonly<Record<string, never>>
    const validator = validators.get(tool)
    if (validator?.usable !== true || validator.check(given) !== undefined) throw new Error(`${tool} was not validated`)
    const current = await policies.current()
    const call = {
      server_id: 'bench',
      session_id: 'mcp_bench',
      tool,
      arguments: given,
      text,
      cwd: process.cwd(),
      at: 0,
    }
    const { action } = await current.judge(call, [])
    if (action !== 'allow') throw new Error(`${checked}: ${action}`)
    return true
  }
  return { judge, close: () => gateway.close() }
}

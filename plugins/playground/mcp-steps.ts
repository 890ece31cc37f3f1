import type { Gateway } from 'guard-gateway/core'
import { approvalIn, outcomeIn, shapeOfAnswer, textIn } from './mcp-answer.ts'
import type { ApproveStep, CallStep, McpScenario, McpStep } from './scenario.ts'
import { noObservation, type RunContext, type StepObservation } from './step-context.ts'

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'guard-playground', version: '1' },
}

/** Does the steps of a run of an MCP scenario, in a session of the proxy of its own in front of the test server. Throws INVALID_POLICY, and MISSING_PLUGIN without a proxy. */
export const mcpActor = async (gateway: Gateway, { mode, names }: RunContext, { policy }: McpScenario) => {
  const { openMcp } = await import('guard-gateway/plugins/mcp')
  const session = await openMcp(gateway, {
    // one for each scenario: a list that one of them asks for ends the questions of no other
    server_id: names.project_id,
    transport: 'playground',
    // what one run lists, or somebody trusts, is nothing to the next
    pins: 'session',
    policy: { ...policy, mode },
    project_id: names.project_id,
    agent_id: names.agent_id,
    external_session_id: names.external_id,
    origin: 'playground',
  })
  let waiting: string | null = null

  const send = async (id: number, method: string, params: object) => {
    const answers = await session.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return shapeOfAnswer(answers.at(-1) ?? '')
  }
  const call = async (id: number, step: CallStep): Promise<StepObservation> => {
    const answer = await send(id, 'tools/call', { name: step.tool, arguments: step.arguments })
    const asked = approvalIn(answer)
    waiting = asked ?? waiting
    const recorded = await recordOf(gateway, session.session_id, id)
    return { ...noObservation, ...recorded, body: textIn(answer), outcome: outcomeIn(answer), approval_id: asked }
  }
  const approve = async ({ action, scope }: ApproveStep): Promise<StepObservation> => {
    if (waiting === null) return { ...noObservation, outcome: 'none' }
    const approval_id = waiting
    waiting = null
    return { ...noObservation, approval_id, outcome: await session.decide(approval_id, { action, scope }) }
  }

  await send(0, 'initialize', INITIALIZE)
  await session.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return {
    async play(step: McpStep, index: number): Promise<StepObservation> {
      if (step.do === 'call') return call(index, step)
      if (step.do === 'approve') return approve(step)
      const answer = await send(index, 'tools/list', {})
      return { ...noObservation, body: textIn(answer), outcome: outcomeIn(answer) }
    },
    [Symbol.asyncDispose]: () => session.end(),
  }
}

/** What the audit says of the call that had this id. */
const recordOf = async ({ storage }: Gateway, session_id: string, id: number): Promise<Partial<StepObservation>> => {
  const where = { session_id, kind: 'decision', request_id: String(id) } as const
  const { rows } = await storage.find('mcp_audit', { where, limit: 1 })
  const [row] = rows
  if (row === undefined) return {}
  const { action, forwarded, reason_code, rule_ids, trace_id, span_id } = row
  return { action, forwarded, reason: reason_code, rule_id: rule_ids?.[0] ?? null, trace_id, span_id }
}

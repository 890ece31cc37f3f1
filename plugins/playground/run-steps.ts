import { type Call, type Client, type Gateway, GuardError, headerOf, type Mode, type Rule } from 'guard-gateway/core'
import { newId } from '#lib/ids'
import { jsonObjectOf } from '#lib/json'
import { PLAYGROUND_UPSTREAM } from '#lib/trace'
import { type Answered, setRules } from './administration.ts'
import { missed } from './expectations.ts'
import type { Names } from './names.ts'
import type {
  ApproveStep,
  CallStep,
  McpScenario,
  McpStep,
  ModelStep,
  PauseStep,
  RequestStep,
  Scenario,
  Step,
} from './scenario.ts'
import { scriptOf } from './script.ts'
import { noObservation, type RunContext, type StepContext, type StepObservation } from './step-context.ts'
import type { StepResult } from './tables.ts'

/** Does the steps of a run of a model scenario: requests through the whole pipeline, pauses through the administration API. What they leave paused continues when the run is over, however it ends. */
const modelActor = (context: StepContext, run: RunContext) => {
  let sessionId: string | null = null
  const left = new Set<PauseStep['target']>()
  return {
    async play(step: ModelStep, index: number): Promise<StepObservation> {
      if (step.do !== 'request') {
        const done = await pause(context, run, step, sessionId)
        if (step.do === 'pause') left.add(step.target)
        else left.delete(step.target)
        return done
      }
      const seen = await request(context, run, step, index)
      sessionId = seen.session_id ?? sessionId
      return seen
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const target of left) await context.administration('POST', pathOf(target, run, sessionId, 'resume'))
    },
  }
}

const request = async (
  context: StepContext,
  run: RunContext,
  step: RequestStep,
  index: number,
): Promise<StepObservation> => {
  const { gateway, send } = context
  const { scenario_id, names, mode } = run
  const style = step.style ?? run.style ?? ''
  const script = scriptOf(style, `${scenario_id}-${index}`, step)
  const call = callOf(gateway, style, script.request, names, mode)
  const client = new CollectingClient()
  const cost = 'error_type' in step.reply ? undefined : step.reply.cost_micro
  const settled = await send(call, script.reply, client, cost)
  const decision = settled?.decision
  return {
    ...noObservation,
    decision: client.header('x-guard-decision'),
    reason: client.header('x-guard-reason'),
    http_status: client.status,
    body: client.body,
    broken: client.broken,
    outcome: settled?.outcome ?? null,
    total_tokens: settled?.usage.total_tokens ?? null,
    request_id: call.id,
    rule_id: decision?.rule_id ?? null,
    repeats: decision?.repeats ?? null,
    session_id: client.header('x-guard-session-id'),
    ...(await stepOf(context, decision?.repeats ?? call.id)),
  }
}

/** Where a request is in Replay, as its record says. */
const stepOf = async (
  { gateway: { storage } }: StepContext,
  request_id: string,
): Promise<Pick<StepObservation, 'trace_id' | 'span_id'>> => {
  const row = await storage.get('calls', request_id)
  return { trace_id: row?.trace_id ?? null, span_id: row?.span_id ?? null }
}

const pause = async (
  { administration }: StepContext,
  run: RunContext,
  step: PauseStep,
  sessionId: string | null,
): Promise<StepObservation> => {
  const { target } = step
  if (target === 'session' && sessionId === null)
    throw new GuardError('SESSION_NOT_FOUND', `Step "${step.what}" needs a session, and no request has been sent yet.`)
  const { status, body }: Answered = await administration('POST', pathOf(target, run, sessionId, step.do))
  return { ...noObservation, http_status: status, body }
}

const pathOf = (target: PauseStep['target'], { names }: RunContext, sessionId: string | null, act: string): string =>
  `/api/${target}s/${target === 'session' ? sessionId : names.agent_id}/${act}`

const CLIENT = 'guard-playground'

/** A call as a route makes one of a client's bytes, with the mode of the mode header. Throws UNKNOWN if the style is not served. */
const callOf = (gateway: Gateway, style: string, body: Buffer, names: Names, mode: Mode): Call => {
  const served = gateway.apiStyles.need(style)
  const headers = {
    'content-type': 'application/json',
    'user-agent': CLIENT,
    'x-guard-project-id': names.project_id,
    'x-guard-agent-id': names.agent_id,
    'x-guard-session-id': names.external_id,
  }
  const at = gateway.clock.now()
  return {
    id: newId('guardreq_', at),
    at,
    tick: gateway.clock.tick(),
    style,
    path: served.paths[0] ?? '',
    query: '',
    headers,
    raw_headers: Object.entries(headers).flat(),
    client: CLIENT,
    identity: { agent_id: null, key_id: null },
    body,
    ...gateway.service('requests').need().reader.read(served, body, names.external_id),
    retry_mark: false,
    mode_override: mode,
    project_id: names.project_id,
    agent_id: null,
    mode,
    upstream: PLAYGROUND_UPSTREAM,
    session: null,
    notes: {},
  }
}

/** A client that stays to the end, reads every byte at once and collects the response. */
class CollectingClient implements Client {
  readonly gone = false
  readonly interrupted = false
  status = 0
  /** The reply broke off. */
  broken = false
  readonly #chunks: Uint8Array[] = []
  #headers: readonly string[] = []

  head(status: number, headers: readonly string[]): void {
    this.status = status
    this.#headers = headers
  }

  write(chunk: Uint8Array): boolean {
    this.#chunks.push(chunk)
    return true
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) this.#chunks.push(last)
  }

  cut(): void {
    this.broken = true
  }

  /** Never needed: `write` always has room. */
  onDrain(): void {}

  /** Never needed: this client does not leave. */
  onGone(): void {}

  /** The value of a header of the reply; null if it has none of this name. */
  header(name: string): string | null {
    return headerOf(this.#headers, name) ?? null
  }

  get body(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'guard-playground', version: '1' },
}

/** Does the steps of a run of an MCP scenario, in a session of the proxy of its own in front of the test server. Throws INVALID_POLICY, and MISSING_PLUGIN without a proxy. */
const mcpActor = async (gateway: Gateway, { mode, names }: RunContext, { policy }: McpScenario) => {
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
    const approval = approvalIn(answer)
    waiting = approval ?? waiting
    const recorded = await recordOf(gateway, session.session_id, id)
    return { ...noObservation, ...recorded, body: textIn(answer), outcome: outcomeIn(answer), approval_id: approval }
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

/** An answer of the proxy, as far as a scenario examines it. */
type McpAnswer = Readonly<Record<string, unknown>>

/** The members of a JSON-RPC message. */
const shapeOfAnswer = (json: string): McpAnswer => jsonObjectOf(JSON.parse(json))

/** What a client reads: the texts of a result, the names of listed tools, or the message of an error. */
const textIn = ({ result, error }: McpAnswer): string => {
  if (error !== undefined) return String(jsonObjectOf(error).message)
  const { content, tools } = jsonObjectOf(result)
  if (Array.isArray(tools)) return tools.map((tool) => String(jsonObjectOf(tool).name)).join('\n')
  return Array.isArray(content) ? content.map((piece) => String(jsonObjectOf(piece).text)).join('\n') : ''
}

/** How the exchange ended for the client. */
const outcomeIn = ({ result, error }: McpAnswer): string => {
  if (error !== undefined) return 'rpc_error'
  return jsonObjectOf(result).isError === true ? 'tool_error' : 'ok'
}

/** Id of the approval that the answer waits for; null if there is none. */
const approvalIn = ({ result }: McpAnswer): string | null => {
  const { approval_id } = jsonObjectOf(jsonObjectOf(result).structuredContent)
  return typeof approval_id === 'string' ? approval_id : null
}

/** Whoever does the steps of one run. */
interface Actor<S> {
  /** Does a step; `index` 1 is the first. Throws what keeps it from being done. */
  play(step: S, index: number): Promise<StepObservation>
}

/** Runs the steps of a scenario one after the other, telling of each. Throws what keeps a step from being run. */
export const runSteps = async (
  context: StepContext,
  run: RunContext,
  scenario: Scenario,
): Promise<readonly StepResult[]> => {
  if (scenario.kind === 'model') {
    await setRules(context.administration, run.names.project_id, scenario.rules ?? defaultRules)
    await using actor = modelActor(context, run)
    return await playAll(context, run, scenario.steps, actor)
  }
  await using actor = await mcpActor(context.gateway, run, scenario)
  return await playAll(context, run, scenario.steps, actor)
}

const playAll = async <S extends Step>(
  { gateway: { clock } }: StepContext,
  run: RunContext,
  steps: readonly S[],
  actor: Actor<S>,
): Promise<readonly StepResult[]> => {
  const results: StepResult[] = []
  let sessionId: string | null = null
  for (const [place, step] of steps.entries()) {
    if (place > 0) await run.between()
    const began = clock.tick()
    const seen = await actor.play(step, place + 1)
    sessionId = seen.session_id ?? sessionId
    results.push(resultOf(step, place + 1, run, seen, clock.tick() - began))
    await run.progress([...results], sessionId)
  }
  return results
}

const resultOf = (
  step: Step,
  index: number,
  { mode }: RunContext,
  seen: StepObservation,
  duration: number,
): StepResult => {
  const expected = step.expect[mode]
  const lacking = missed(expected, seen)
  const { body: _body, session_id: _session, ...told } = seen
  return {
    index,
    what: step.what,
    do: step.do,
    ...told,
    expected,
    matched: lacking.length === 0,
    missed: lacking,
    duration_ms: Math.round(duration),
  }
}

const rule = (rule_type: string, threshold: number, window_size: number): Rule => ({
  id: rule_type,
  rule_type,
  threshold,
  window_size,
  action: 'block',
  enabled: true,
})

/** The rules that a scenario runs under unless it brings its own: written out, so that no configuration changes how it ends. */
const defaultRules: readonly Rule[] = [
  rule('exact_repeat', 3, 8),
  rule('tool_repeat', 3, 8),
  rule('error_retry', 5, 0),
  rule('sequence_repeat', 3, 15),
  rule('max_requests', 50, 0),
  rule('max_tokens', 100_000, 0),
]

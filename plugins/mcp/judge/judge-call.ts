import type { Gateway } from 'guard-gateway/core'
import {
  applyEdits,
  type Edit,
  memberIn,
  parseJson,
  readJson,
  removeMembers,
  setMember,
  sourceOf,
  stringIn,
} from '#lib/json'
import { type Frame, resultFrame } from '#lib/json-rpc'
import type { Arguments } from '#lib/mcp-check'
import type { PassedHeaders } from '#lib/mcp-transport'
import { argumentHash } from '#lib/trace'
import { confirmResult, deniedByUserResult, invalidResult, limitResult, refusedResult } from '../actions/texts.ts'
import type { Approvals, Consent } from '../approvals/index.ts'
import type { PinState } from '../audit/enums.ts'
import { type CallFacts, type Entry, fromVerdict, type Judgement, unjudged } from '../audit/index.ts'
import { mcpHooks } from '../hooks.ts'
import type { Policies, Policy } from '../policy/index.ts'
import { type ClientResponse, errorResponse, resultResponse } from '../relay/response.ts'
import type { PendingRequest } from '../session/pending-requests.ts'
import { type Session, withText } from '../session/session.ts'
import type { ServerTools } from '../tools/server-tools.ts'
import { pausedJudgement, pausedResponse } from './paused-call.ts'
import type { ToolCall } from './tool-call.ts'
import type { PartialVerdict, Verdict } from './verdict.ts'

/** Gives the frame to forward, or a response instead of it; an empty one if the call was cancelled meanwhile. */
export type JudgeCall = (
  frame: Frame,
  request: PendingRequest,
  passed: PassedHeaders,
) => Promise<Frame | ClientResponse>

/** What judging the calls of a session needs. */
export interface JudgeParts {
  readonly gateway: Gateway
  readonly session: Session
  readonly policies: Policies
  readonly approvals: Approvals
  readonly tools: ServerTools
  readonly key: string
}

/** A call that is read, and whose entry among the records is made. */
interface Case {
  readonly frame: Frame
  readonly request: PendingRequest
  readonly call: ToolCall
  readonly entry: Entry
  readonly facts: CallFacts
  readonly policy: Policy
}

const CANCELLED: ClientResponse = { form: 'none', status: 202 }
/** Judges the calls of a session: pin, schema, rules, consent. A decision is on record, and its approval is used, before the call is forwarded. */
export const judgeCalls =
  (parts: JudgeParts): JudgeCall =>
  async (frame, request, passed) => {
    const { gateway, session } = parts
    const call = readCall(frame, session, gateway.clock.now())
    if (typeof call === 'string') return refusedCall(session, frame, call)
    const opened = await open(parts, frame, request, call, passed)
    if ('form' in opened) return opened
    const judged = await decide(parts, opened)
    return request.state === 'cancelled' && 'form' in judged ? CANCELLED : judged
  }

const open = async (
  parts: JudgeParts,
  frame: Frame,
  request: PendingRequest,
  call: ToolCall,
  passed: PassedHeaders,
): Promise<Case | ClientResponse> => {
  const { gateway, session, policies, tools, key } = parts
  const { tool } = call
  const policy = await policies.current()
  const valid = await tools.validate(tool, call.arguments)
  const stopped = await gateway.service('sessions').get()?.pauseOf(session.about)
  const entry = await session.log.begin(traceparentOf(frame) ?? passed.traceparent)
  const facts: CallFacts = {
    tool: recordedTool(parts, tool),
    request_id: frame.id ?? '',
    argument_hash: argumentHash(key, call.text),
    argument_bytes: Buffer.byteLength(call.text),
    schema: valid.state,
    pin: policy.pinning === 'off' ? 'off' : pinOfCall(tools, tool),
    ...{ tool_fingerprint: tools.fingerprint(tool), tool_call_id: toolCallIdOf(frame) },
  }
  const found = { frame, request, call, entry, facts, policy }
  if (stopped !== undefined)
    return recorded(parts, found, pausedJudgement(stopped, policy), () => pausedResponse(stopped, frame))
  if (valid.state !== 'failed') return found
  const { error: fault = 'they do not fit', recorded: reason = fault } = valid
  return recorded(parts, found, unjudged('invalid', reason, policy), () => result(frame, invalidResult(tool, fault)))
}

/** Begins what stands for a name in records. */
export const UNLISTED = 'unlisted_'
const WORD = /^[\p{L}\p{N}_./:@-]+$/u

/** The name of a tool as records keep it: one that is no word and that the server does not list may be content. */
const recordedTool = ({ tools, key }: JudgeParts, tool: string): string =>
  WORD.test(tool) || tools.fingerprint(tool) !== null ? tool : UNLISTED + argumentHash(key, tool).slice(0, 12)

/** A tool counts as unchanged only while what its server says of itself is unchanged. */
const pinOfCall = (tools: ServerTools, tool: string): CallFacts['pin'] => {
  const pin = tools.pin(tool)
  return pin === 'known' ? tools.serverPin() : pin
}

const result = (frame: Frame, value: unknown): ClientResponse =>
  resultResponse(resultFrame(frame.id ?? 'null', JSON.stringify(value)))

/** Records a decision, then gives what `next` gives. A call that cannot be recorded is refused; in shadow mode it passes if the storage setting says so. */
const recorded = async <T extends ClientResponse | Frame>(
  { gateway, session: { log } }: JudgeParts,
  { entry, facts, frame }: Case,
  judgement: Judgement,
  next: () => T,
): Promise<T | ClientResponse> => {
  try {
    if (judgement.forwarded && !entry.join_refused) await log.pass(entry, facts, judgement)
    else await log.judged(entry, facts, judgement)
  } catch (error) {
    gateway.fault(error, 'mcp:record')
    const mayPass =
      judgement.forwarded && judgement.mode === 'shadow' && gateway.service('store').need().onFailure === 'forward'
    if (!mayPass) return unrecorded(frame)
  }
  return next()
}

const unrecorded = ({ id }: Frame): ClientResponse =>
  errorResponse(
    503,
    id,
    -32603,
    'The call cannot be recorded, so it is not forwarded. Try again.',
    'STORAGE_UNAVAILABLE',
  )

const decide = async (parts: JudgeParts, found: Case): Promise<Frame | ClientResponse> => {
  const { gateway, tools, approvals } = parts
  const { call, policy, facts } = found
  const isServers = tools.pin(call.tool) === 'known'
  const more = await hookVerdicts(gateway, call, policy, facts.pin, isServers)
  const verdict = await policy.judge(call, more, {
    validate: (args) => tools.check(call.tool, args).recorded,
    shown: approvals.options.full_content_logging
      ? undefined
      : () => new Set([...tools.shownNames(call.tool), found.facts.tool]),
  })
  if (found.request.state === 'cancelled') return CANCELLED
  found.request.results = verdict.results
  const judgement = fromVerdict(verdict)
  if (verdict.mode === 'shadow' || passes.has(verdict.action)) {
    const sent = verdict.mode === 'shadow' ? undefined : verdict.sent
    return recorded(parts, found, { ...judgement, forwarded: true, ...sentHash(parts, sent) }, () =>
      forwarded(found, sent?.text),
    )
  }
  if (verdict.action === 'confirm') return decideByConsent(parts, found, verdict)
  return recorded(parts, found, { ...judgement, forwarded: false }, () =>
    result(found.frame, refusedResult(call.tool, verdict, isServers ? 'server' : pinOf(facts))),
  )
}

const passes: ReadonlySet<Verdict['action']> = new Set(['allow', 'shadow_deny', 'transform'])

const pinOf = ({ pin }: CallFacts): 'new' | 'changed' | undefined =>
  pin === 'new' || pin === 'changed' ? pin : undefined

const sentHash = ({ key }: JudgeParts, sent: Verdict['sent']): Pick<Judgement, 'sent_argument_hash'> =>
  sent === undefined ? {} : { sent_argument_hash: argumentHash(key, sent.text) }

/** The frame as it goes to the server: with changed arguments, and without `task`. */
const forwarded = ({ frame, request, entry, call }: Case, args: string | undefined): Frame => {
  request.entry = entry
  request.tool = call.tool
  const { params, text } = frame
  if (params === undefined) return frame
  const edits: Edit[] = memberIn(params, 'task') === undefined ? [] : removeMembers(params, ['task'])
  if (args !== undefined) edits.push(setMember(params, 'arguments', args))
  return edits.length === 0 ? frame : withText(frame, applyEdits(text, edits))
}

/** Ends a decision that must not be recorded: the client has cancelled, or a limit has no room left. */
class DecisionAborted extends Error {
  readonly limit: PartialVerdict | undefined
  constructor(limit?: PartialVerdict) {
    super('stopped')
    this.limit = limit
  }
}

const decideByConsent = async (parts: JudgeParts, found: Case, verdict: Verdict): Promise<Frame | ClientResponse> => {
  const { approvals, session } = parts
  const { call, entry, facts, policy, request, frame } = found
  const judgement = fromVerdict(verdict)
  const sent = sentHash(parts, verdict.sent)
  let taken = false
  const commit = async ({ state, part }: Consent): Promise<boolean> => {
    if (request.state === 'cancelled') throw new DecisionAborted()
    const granted = state === 'granted'
    if (granted && !taken) {
      const limit = await policy.take(call)
      if (limit !== undefined) throw new DecisionAborted(limit)
      taken = true
    }
    const denial = state === 'denied' ? { denied_by_user: true } : {}
    return session.log.judged(entry, facts, { ...judgement, ...(granted ? sent : denial), forwarded: granted }, part)
  }
  try {
    const decided = await approvals.decide({ ...questionOf(parts, found, verdict), ...sent }, commit)
    // an approval that was written after the end of the session was not found when it ended
    if (session.ended) await approvals.expireSession(session.id)
    if (decided.state === 'granted') return forwarded(found, verdict.sent?.text)
    if (decided.state === 'denied')
      return result(frame, deniedByUserResult(decided.approval.id, decided.approval.reason))
    return result(frame, confirmResult(confirmationOf(parts, found, verdict, decided)))
  } catch (error) {
    if (!(error instanceof DecisionAborted)) {
      parts.gateway.fault(error, 'mcp:record')
      return unrecorded(frame)
    }
    return error.limit === undefined ? CANCELLED : overLimit(parts, found, judgement, error.limit)
  }
}

const overLimit = (
  parts: JudgeParts,
  found: Case,
  judgement: ReturnType<typeof fromVerdict>,
  limit: PartialVerdict,
): Promise<Frame | ClientResponse> => {
  const limited = { ...judgement, action: limit.action, rule_ids: [limit.rule_id], forwarded: false }
  return recorded(parts, found, limited, () => result(found.frame, limitResult(limit)))
}

const confirmationOf = ({ gateway }: JudgeParts, { call }: Case, { winners }: Verdict, { approval }: Consent) => ({
  approval_id: approval.id,
  server_id: call.server_id,
  tool: call.tool,
  expires_in_seconds: Math.max(0, Math.ceil((approval.expires_at - gateway.clock.now()) / 1000)),
  winners,
})

const questionOf = (
  { session, tools }: JudgeParts,
  { call, facts, entry }: Case,
  { winners, findings, recorded, sent, policy_version }: Verdict,
) => ({
  server_id: call.server_id,
  session_id: call.session_id,
  project_id: session.about.project_id,
  client: session.client,
  tool: facts.tool,
  argument_hash: facts.argument_hash,
  tool_fingerprint: facts.tool_fingerprint,
  tool_says: tools.description(call.tool),
  rule_ids: winners.map(({ rule_id }) => rule_id),
  findings: recorded?.findings ?? findings,
  message: winners.flatMap(({ message }) => message ?? []).join(' ') || null,
  policy_version,
  arguments: readJson(call.text) as Arguments,
  ...(sent === undefined ? {} : { sent: readJson(sent.text) as Arguments }),
  entry,
})

/** How long plugins may take to judge a call, in milliseconds. */
const HOOK_MS = 10_000

/** Opinions about a call that come from its pin and from plugins. `isServers`: the pin is that of what the server says of itself. */
const hookVerdicts = (
  gateway: Gateway,
  call: ToolCall,
  policy: Policy,
  pin: PinState,
  isServers: boolean,
): readonly PartialVerdict[] | Promise<readonly PartialVerdict[]> => {
  const opinions: PartialVerdict[] = []
  const action = policy.ofPin(pin)
  if (action !== undefined) {
    const ofTool = pin === 'new' ? 'the tool appeared after the others were trusted' : 'its definition changed'
    const reason = isServers ? 'the instructions of the server changed' : ofTool
    opinions.push({ rule_id: 'pin', action, reason })
  }
  const { call: hook } = mcpHooks(gateway)
  if (!hook.isUsed()) return opinions
  return withTimeout(gateway, hook.promise(call)).then((opinion) =>
    opinion === undefined ? opinions : [...opinions, opinion],
  )
}

const unable: PartialVerdict = { rule_id: 'plugin', action: 'deny', reason: 'a plugin could not judge the call' }

/** Waits for the plugins. A plugin that fails or takes too long denies the call. */
const withTimeout = async (
  gateway: Gateway,
  opinion: Promise<PartialVerdict | undefined>,
): Promise<PartialVerdict | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<PartialVerdict>((resolve) => {
    timer = setTimeout(() => resolve(unable), HOOK_MS)
  })
  try {
    return await Promise.race([opinion, late])
  } catch (error) {
    gateway.fault(error, 'mcp:call')
    return unable
  } finally {
    clearTimeout(timer)
  }
}

const MAX_TOOL = 128

/** Reads the call of a `tools/call`; gives a text that says what is wrong if there is none. */
const readCall = ({ text, params }: Frame, session: Session, at: number): ToolCall | string => {
  const tool = stringIn(text, memberIn(params, 'name')?.value)
  if (tool === undefined || tool === '' || tool.length > MAX_TOOL)
    return `"name" must be a string of 1 to ${MAX_TOOL} characters.`
  const argumentsValue = memberIn(params, 'arguments')?.value
  const source = argumentsValue === undefined ? '{}' : sourceOf(text, argumentsValue)
  if (source.charCodeAt(0) !== BRACE) return '"arguments" must be an object.'
  const args = parseJson(source) as Arguments
  const { id: session_id, server, caller } = session
  const cwd = server.command === undefined ? undefined : (server.cwd ?? process.cwd())
  return {
    server_id: server.id,
    session_id,
    tool,
    caller,
    arguments: args,
    text: source,
    cwd,
    at,
  }
}

const BRACE = 0x7b

/** The `traceparent` that a call has in its `_meta`; it takes precedence over that of the connection. */
const traceparentOf = ({ text, params }: Frame): string | undefined =>
  stringIn(text, memberIn(memberIn(params, '_meta')?.value, 'traceparent')?.value)

/** Names of the id that a model gave its call, in the `_meta` of a `tools/call`: Claude Code's, Codex's, and as others spell it. */
const CALL_IDS = [
  'claudecode/toolUseId',
  'callId',
  'gen_ai.tool.call.id',
  'toolCallId',
  'tool_call_id',
  'toolUseId',
  'tool_use_id',
  'call_id',
] as const
const ID_CHARS = 256

/** The id that the model gave the call, where its client passes it on: other records of the call have it too. */
const toolCallIdOf = ({ text, params }: Frame): string | null => {
  const meta = memberIn(params, '_meta')?.value
  if (meta === undefined) return null
  for (const name of CALL_IDS) {
    const id = stringIn(text, memberIn(meta, name)?.value)
    if (id !== undefined && id !== '' && id.length <= ID_CHARS) return id
  }
  return null
}

/** Refuses a `tools/call` that cannot be read, and records the refusal. */
const refusedCall = ({ log }: Session, { id = 'null' }: Frame, reason: string): ClientResponse => {
  log.event({ kind: 'refusal', name: 'call.refused', reason, request_id: id })
  return errorResponse(200, id, -32602, reason)
}

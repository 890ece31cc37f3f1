import { parseJson, readJson, sourceOf } from '#lib/json'
import type { Frame } from '#lib/json-rpc'
import type { Arguments } from '#lib/mcp-check'
import { terminalLine } from '#lib/text'
import { argumentHash } from '#lib/trace'
import { deniedText } from '../actions/texts.ts'
import type { Consent } from '../approvals/index.ts'
import type { CallFacts, Judgement } from '../audit/index.ts'
import type { Policy } from '../policy/index.ts'
import { isRestrictable, type MethodVerdict } from '../policy/methods.ts'
import type { RequestRefusal } from '../relay/response.ts'
import type { JudgeParts } from './judge-call.ts'

/** Who sends a request: the client to its server, or the server to its client. */
export type RequestSender = 'client' | 'server'

/** Judges a request that is no call of a tool, and records it; undefined: it is forwarded. */
export type JudgeRequest = (frame: Frame, asker: RequestSender) => Promise<RequestRefusal | undefined>

/** A ping keeps a session alive and says nothing else. */
const UNRECORDED = 'ping'

export const judgeRequests =
  (parts: JudgeParts): JudgeRequest =>
  async (frame, asker) => {
    const { method = '' } = frame
    if (method === UNRECORDED) return undefined
    const policy = await parts.policies.current()
    const within = asker === 'server' && parts.session.clientRequests.some((request) => isRestrictable(request.method))
    const verdict = policy.request(method, within)
    const stops = verdict.action !== 'allow' && policy.mode === 'enforce'
    if (verdict.action === 'confirm' && stops) return decideByConsent(parts, frame, asker, policy, verdict)
    note(parts, frame, asker, policy, verdict, !stops)
    return stops ? { message: REQUEST_TEXTS.denied(method, verdict.rule_id), code: 'MCP_DENIED' } : undefined
  }

const paramsOf = ({ text, params }: Frame): string => (params === undefined ? '{}' : sourceOf(text, params))

const note = (
  { session: { log }, key }: JudgeParts,
  frame: Frame,
  asker: RequestSender,
  policy: Policy,
  { action, rule_id }: MethodVerdict,
  forwarded: boolean,
): void => {
  const { id, method = '' } = frame
  const params = paramsOf(frame)
  log.event({
    kind: 'request',
    name: method,
    reason: REQUEST_TEXTS.asked(asker, action === 'deny'),
    policy_version: policy.version,
    request: {
      ...{ action, forwarded, mode: policy.mode, rule_ids: [rule_id] },
      reason_code: action === 'deny' ? 'MCP_DENIED' : null,
      argument_hash: argumentHash(key, params),
      argument_bytes: Buffer.byteLength(params),
    },
    ...(id === undefined ? {} : { request_id: id }),
  })
}

/** Asks a person, as a call of a tool does; the sender repeats the request. */
const decideByConsent = async (
  parts: JudgeParts,
  frame: Frame,
  asker: RequestSender,
  policy: Policy,
  { rule_id }: MethodVerdict,
): Promise<RequestRefusal | undefined> => {
  const { gateway, session, approvals, key } = parts
  const { method = '', id = '' } = frame
  const params = paramsOf(frame)
  const entry = await session.log.begin()
  const facts: CallFacts = {
    ...{ tool: method, request_id: id, schema: 'skipped', pin: 'off', tool_fingerprint: null },
    tool_call_id: null,
    argument_hash: argumentHash(key, params),
    argument_bytes: Buffer.byteLength(params),
  }
  const judgement: Omit<Judgement, 'forwarded'> = {
    ...{ action: 'confirm', mode: policy.mode, findings: [], policy_version: policy.version, rule_ids: [rule_id] },
    reason: REQUEST_TEXTS.asked(asker, false),
  }
  const question = {
    ...{ server_id: session.server.id, session_id: session.id, project_id: session.about.project_id },
    ...{
      client: session.client,
      tool: method,
      argument_hash: facts.argument_hash,
      tool_fingerprint: null,
      findings: [],
    },
    ...{ rule_ids: [rule_id], message: REQUEST_TEXTS.asked(asker, false), policy_version: policy.version, entry },
    arguments: (parseJson(params) ?? readJson(params)) as Arguments,
  }
  const commit = ({ state, part }: Consent): Promise<boolean> => {
    const decision = state === 'denied' ? { denied_by_user: true } : {}
    return session.log.judged(entry, facts, { ...judgement, ...decision, forwarded: state === 'granted' }, part)
  }
  try {
    const { state, approval } = await approvals.decide(question, commit)
    if (session.ended) await approvals.expireSession(session.id)
    if (state === 'granted') {
      // how the request ends is not recorded
      void session.log.outcome(entry, 'ok')
      return undefined
    }
    if (state === 'denied')
      return { message: REQUEST_TEXTS.deniedByUser(approval.id, approval.reason), code: 'MCP_DENIED' }
    const seconds = Math.max(0, Math.ceil((approval.expires_at - gateway.clock.now()) / 1000))
    const message = REQUEST_TEXTS.confirm(approval.id, method, session.server.id, seconds)
    return { message, code: 'MCP_CONFIRM', approval_id: approval.id }
  } catch (error) {
    gateway.fault(error, 'mcp:record')
    return { message: REQUEST_TEXTS.unrecorded, code: 'STORAGE_UNAVAILABLE' }
  }
}

/** Texts about requests that are no calls of tools. */
const REQUEST_TEXTS = {
  /** For the record, and for who is asked. */
  asked: (asker: 'client' | 'server', denied: boolean): string =>
    `${asker === 'server' ? 'the server asks its client' : 'the client asks the server'}${denied ? ', which the policy denies' : ''}`,
  denied: (method: string, rule_id: string): string =>
    rule_id === 'default'
      ? `Denied by the policy: it allows no ${terminalLine(method)}, and its default is deny.`
      : `Denied by the policy (${rule_id}): ${terminalLine(method)} is not allowed.`,
  confirm: (approval_id: string, method: string, server_id: string, seconds: number): string =>
    `Approval required (${approval_id}): ${terminalLine(method)} on "${terminalLine(server_id)}". Ask the user to approve it in Guard, then send the same request again. Expires in ${seconds} s.`,
  deniedByUser: deniedText,
  unrecorded: 'The request cannot be recorded, so it is not forwarded. Try again.',
}

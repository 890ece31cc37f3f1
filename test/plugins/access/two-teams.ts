import type { Gateway } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { FakeProvider } from '../../kit/provider.ts'
import { GATEWAY_KEY, type Remote, remote } from './kit.ts'

/** Stands in all that the other team has. */
export const MARKER = 'zebrafish'
export const OWN = 'alpha'
/** Its project bears the marker too. */
export const OTHER = `bravo-${MARKER}`

/** A gateway with what two teams have done. */
export interface TwoTeams extends Remote {
  /** Ids of what the other team has, by the parameter that names such a thing in a route. */
  readonly others: Readonly<Record<string, readonly string[]>>
  /** The same of the own team. */
  readonly own: Readonly<Record<string, readonly string[]>>
}

export const twoTeams = async (backend?: string): Promise<TwoTeams> => {
  const provider = new FakeProvider()
  await provider.listen()
  const upstreams = `upstreams: [{ name: provider, base_url: "${provider.url}", styles: [messages, responses, chat_completions] }]\n`
  const running = await remote({ config: `${upstreams}default_mode: shadow\n`, ...(backend && { backend }) })
  const others = await fill(running, OTHER, MARKER)
  const own = await fill(running, OWN, 'ocelot')
  return {
    ...running,
    others,
    own,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await provider.close()
    },
  }
}

/** Does one of everything that leaves something behind. */
const fill = async (running: Remote, project: string, word: string): Promise<Record<string, readonly string[]>> => {
  const { ask, gateway } = running
  const agent = `agent-${word}`
  const session = `session-${word}`
  const admin = (await running.key(['admin'], undefined, `admin of ${word}`)).key
  const post = (path: string, body: object, method = 'POST') => ask(path, { method, key: admin, body })
  const added = await post('/api/agents', { id: agent, name: `Agent ${word}`, project_id: project })
  const { key_id } = added.json as { key_id: string }
  await post(
    `/api/policies/${project}`,
    {
      rules: [
        { id: `rule-${word}`, rule_type: 'exact_repeat', threshold: 2, action: 'block', note: word },
        {
          id: `budget-${word}`,
          rule_type: 'max_requests',
          threshold: 99,
          action: 'block',
          params: { scope: 'agent', per: 'day' },
        },
      ],
    },
    'PUT',
  )
  for (let turn = 0; turn < 4; turn++) await call(running, project, agent, session, word)
  const { rows } = await gateway.storage.find('sessions', { where: { project_id: project } })
  const session_id = rows[0]?.id ?? ''
  await post(`/api/sessions/${session_id}`, { name: `Name ${word}`, metadata: { word } }, 'PATCH')
  await post(`/api/sessions/${session_id}/pause`, { reason: `because ${word}` })
  const ingested = await ask('/api/v1/traces', {
    method: 'POST',
    key: GATEWAY_KEY,
    headers: { 'x-guard-project-id': project },
    body: {
      name: `run ${word}`,
      agent_name: `runner ${word}`,
      tags: [word],
      attributes: { word },
      spans: [
        {
          name: `tool.${word}`,
          attributes: { [word]: word },
          events: [{ name: `event.${word}`, attributes: { word } }],
        },
      ],
      artifacts: [{ path: `/files/${word}.txt` }],
    },
  })
  const { trace_id } = ingested.json as { trace_id: string }
  const approval = await approve(gateway, project, word, trace_id)
  const key = await running.key(['read'], [project], `key of ${word}`)
  gateway.hooks.notice.call({
    event: 'budget_low',
    subject: `budget of ${word}`,
    text: `Little is left of ${word}`,
    path: `/policies/${project}`,
    project_id: project,
  })
  await gateway.storage.flush()
  const runs = await gateway.storage.find('runs', { where: { project_id: project } })
  return {
    ':project_id': [project],
    ':session_id': [session_id],
    ':external_id': [session],
    ':agent': [agent],
    ':key_id': [key_id],
    ':access_key': [key.id],
    ':trace_id': runs.rows.map((row) => row.trace_id),
    ':approval': [approval],
    ':server': [`server-${word}`],
  }
}

const call = (running: Remote, project: string, agent: string, session: string, word: string) =>
  running.ask('/v1/messages', {
    method: 'POST',
    key: GATEWAY_KEY,
    headers: {
      'x-guard-project-id': project,
      'x-guard-agent-id': agent,
      'x-guard-session-id': session,
      'user-agent': `client-${word}`,
    },
    body: { model: `model-${word}`, max_tokens: 8, messages: [{ role: 'user', content: `do ${word}` }] },
  })

/** What MCP leaves behind: a question, and records of judged calls. */
const approve = async ({ storage, clock }: Gateway, project_id: string, word: string, trace_id: string) => {
  const now = clock.now()
  const id = `apr_${sha256(word).slice(0, 26)}`
  const common = {
    server_id: `server-${word}`,
    session_id: `mcp_${word}`,
    tool: `tool-${word}`,
    argument_hash: sha256(word),
    tool_fingerprint: null,
    rule_ids: [`rule-${word}`],
    findings: [],
    policy_version: sha256('policy'),
    sent_argument_hash: null,
    project_id,
  }
  await storage.put('mcp_approvals', {
    ...common,
    ...{ id, status: 'pending', scope: 'once', client: { name: word, version: '1' }, tool_says: null },
    ...{ message: `may ${word}`, preview: `{"a":"${word}"}`, sent_preview: null, argument_chars: 12, trace_id },
    ...{ span_id: 'span', used_count: 0, created_at: now, expires_at: now + 3_600_000, decided_at: null },
    ...{ decided_via: null, reason: null, consumed_at: null, open_key: word },
  } as never)
  await storage.put('mcp_approval_texts', { id, arguments: `{"a":"${word}"}`, sent_arguments: null } as never)
  await storage.put('mcp_audit', {
    ...common,
    ...{ id: `aud_${word}`, at: now, seq: 1, kind: 'decision', name: 'policy.decision', agent_id: `agent-${word}` },
    ...{ transport: 'http', protocol_version: null, request_id: '1', argument_bytes: 3, schema: null, action: 'allow' },
    ...{
      reason_code: null,
      reason: `because of ${word}`,
      forwarded: true,
      mode: 'enforce',
      approval_id: id,
      pin: null,
    },
    ...{ transformed: false, outcome: 'ok', duration_ms: 1, result_bytes: 1, trace_id, span_id: 'x' },
    ...{ parent_span_id: null, duration_us: 1000, traced: true },
  } as never)
  return id
}

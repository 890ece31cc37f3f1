import type { Gateway, Session } from 'guard-gateway/core'
import type { FieldFault, Form, Posted } from 'guard-gateway/lib/page'
import { type Agents, visibleAgent } from '../agents.ts'
import type { LiveSessions } from '../live.ts'
import { changeSession, endSession, pauseSession, resumeSession } from '../pause.ts'
import { liveById } from '../queries.ts'
import { staleForm } from './stale.ts'

const MAX_CHARS = 200

const notices = {
  'session-paused': 'Session paused. Nothing of it is forwarded until it is resumed.',
  'session-resumed': 'Session resumed. Loop rules are reset; budgets keep what is used.',
  'session-ended': 'Session ended. Nothing of it is forwarded any more.',
  'session-renamed': 'Name saved.',
} as const

/** The forms of a session: pause, resume, end, rename. */
export const sessionForms = (gateway: Gateway, live: LiveSessions): readonly Form[] => {
  const form = (
    name: string,
    field: string | undefined,
    notice: keyof typeof notices,
    act: (session: Session, text: string | null) => Promise<void>,
  ): Form => ({
    id: `sessions/${name}`,
    path: `/ui/sessions/:id/${name}`,
    page: '/sessions/:id',
    notices,
    submit: async ({ params, fields, now }: Posted) => {
      const text = field === undefined ? null : fields.get(field)?.trim() || null
      const fault = tooLong(field, text) ?? resumeFault(gateway, name, fields)
      if (fault !== undefined) return { faults: [fault] }
      const session = await liveById(gateway, live, params.id ?? '')
      const stale = staleForm(name, `Session ${session.row.id}`, session.row, fields, now)
      if (stale !== undefined) return stale
      await act(session, text)
      return { notice, at: `session-${session.row.id}` }
    },
  })
  return [
    form('pause', 'reason', 'session-paused', (session, reason) => pauseSession(gateway, session, reason)),
    form('resume', undefined, 'session-resumed', (session) => resumeSession(gateway, session)),
    form('end', undefined, 'session-ended', (session) => endSession(gateway, session)),
    form('name', 'name', 'session-renamed', (session, name) =>
      changeSession(gateway, session, { name: name === null ? null : gateway.redact.text(name) }, 'session.updated'),
    ),
  ]
}

const tooLong = (field: string | undefined, text: string | null): FieldFault | undefined =>
  text !== null && text.length > MAX_CHARS
    ? { field: field ?? '', message: `${text.length} characters are too many; ${MAX_CHARS} may be given.` }
    : undefined

/** To pause anybody may; to let continue takes the approver key, where one is set. */
const resumeFault = ({ approver }: Gateway, act: string, fields: URLSearchParams): FieldFault | undefined =>
  act === 'resume' ? approver.faultIn(fields) : undefined

/** The forms of an agent: pause and resume. */
export const agentForms = (gateway: Gateway, agents: Agents): readonly Form[] =>
  (['pause', 'resume'] as const).map((act) => ({
    id: `agents/${act}`,
    path: `/ui/agents/:id/${act}`,
    page: '/agents',
    notices: {
      'agent-paused': 'Agent paused. Nothing of it is forwarded until it is resumed.',
      'agent-resumed': 'Agent resumed.',
    },
    submit: async ({ params, fields, now }: Posted) => {
      const fault = resumeFault(gateway, act, fields)
      if (fault !== undefined) return { faults: [fault] }
      const agent = await agents.need(params.id ?? '')
      const stale = staleForm(act, `Agent ${agent.id}`, visibleAgent(agent), fields, now)
      if (stale !== undefined) return stale
      await agents.setPaused(agent, act === 'pause')
      return { notice: `agent-${act}d`, at: `agent-${params.id}` }
    },
  }))

import { errorCodes } from 'guard-gateway/core'

export const sessionErrors = {
  ...errorCodes(403, 'permission_error', {
    AGENT_SHARED: [
      'The agent works for other projects too',
      'Its keys open those too: ask whoever administers all projects.',
    ],
  }),
  ...errorCodes(404, 'not_found_error', {
    AGENT_NOT_FOUND: ['There is no such agent', 'List them with GET /api/agents.'],
    KEY_NOT_FOUND: ['The agent has no such live key', 'List them with GET /api/agents/{id}.'],
  }),
  ...errorCodes(409, 'conflict_error', {
    TOO_MANY_KEYS: ['The agent has as many live keys as it may have', 'Revoke one first.'],
    AGENT_EXISTS: ['The agent exists already', 'Choose another id, or issue a key for the agent there is.'],
  }),
  ...errorCodes(409, 'guard_block', {
    ENDED_SESSION: [
      'A person has ended the session',
      'Begin a new session, or take that back with POST /api/sessions/{id}/resume.',
    ],
    PAUSED_SESSION: ['The session is paused', 'Resume it with POST /api/sessions/{id}/resume.'],
    PAUSED_AGENT: ['The agent is paused', 'Resume it with POST /api/agents/{id}/resume.'],
  }),
}

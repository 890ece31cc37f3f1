export const SESSION = '00000001-0000-4000-8000-000000000001'

/** A line of a session. */
export const line = (type: string, message: object, more: object = {}): string =>
  `${JSON.stringify({
    type,
    sessionId: SESSION,
    uuid: `u-${JSON.stringify([message, more]).length}-${Math.abs(hash(JSON.stringify([message, more])))}`,
    timestamp: '2026-01-01T00:00:00.000Z',
    message,
    ...more,
  })}\n`
const hash = (text: string): number => [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) | 0, 7)
export const user = (content: unknown, more: object = {}) => line('user', { role: 'user', content }, more)
export const reply = (id: string, content: readonly object[], more: object = {}, usage: object = { input_tokens: 1 }) =>
  line('assistant', { id, role: 'assistant', model: 'claude-1', content, usage }, more)
export const call = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'Bash', input })
export const result = (id: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'x',
  ...more,
})

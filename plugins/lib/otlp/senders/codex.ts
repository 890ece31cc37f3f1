import type { Sender } from './sender.ts'

/** Codex. */
export const codex: Sender = {
  name: 'Codex',
  source: 'recorded: @openai/codex',
  scopes: /^codex/,
  scoped: true,
  names: {
    tool: ['tool_name'],
    tool_call: ['call_id'],
    session: ['conversation.id', 'thread.id', 'thread_id'],
  },
  failures: { success: [false, 'false'] },
}

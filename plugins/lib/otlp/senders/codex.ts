import type { Sender } from './sender.ts'

/** Codex, whose spans are those of its parts: the one that handles a response has the usage, the ones around it the model. */
export const codex: Sender = {
  name: 'Codex',
  source: 'recorded: @openai/codex',
  scopes: /^codex/,
  scoped: true,
  names: {
    model: ['model'],
    tool_call: ['call_id'],
    session: ['conversation.id', 'thread_id'],
    reasoning: ['codex.usage.reasoning_output_tokens'],
    total: ['codex.usage.total_tokens'],
  },
  kinds: { 'codex.tool.phase': { dispatch: 'tool' } },
  // the turn has the sums of its calls
  span_kinds: { 'session_task.turn': 'agent', 'codex.turn_input': 'agent' },
  model_elsewhere: true,
}

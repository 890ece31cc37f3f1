import type { Sender } from './sender.ts'

/** Claude Code's traces. */
export const claudeCode: Sender = {
  name: 'Claude Code',
  source: 'recorded: @anthropic-ai/claude-code; names: code.claude.com, Monitoring',
  scopes: /^com\.anthropic\.claude_code/,
  scoped: true,
  names: {
    model: ['model'],
    tool: ['tool_name'],
    tool_call: ['tool_use_id'],
    cost: ['cost_usd'],
  },
  failures: { success: [false, 'false'] },
}

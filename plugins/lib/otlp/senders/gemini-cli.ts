import type { Sender } from './sender.ts'

/** Gemini CLI. Thoughts stand beside the output, as in the provider's usage. */
export const geminiCli: Sender = {
  name: 'Gemini CLI',
  source: 'recorded: @google/gemini-cli',
  scopes: /^gemini-cli/,
  scoped: true,
  kinds: {
    'gen_ai.operation.name': { llm_call: 'model', tool_call: 'tool', agent_call: 'agent', user_prompt: 'agent' },
  },
  failures: { success: [false, 'false'] },
  output_holds_reasoning: false,
}

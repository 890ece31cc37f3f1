import type { Sender } from './sender.ts'

/** OpenAI Agents, whose own exporter speaks no OTLP; bridges to OTLP follow OpenInference or the GenAI conventions. */
export const openAiAgents: Sender = {
  name: 'OpenAI Agents',
  source: 'recorded: @openai/agents with @arizeai/openinference-instrumentation-openai-agents',
  scopes: /openai[-_.]agents/,
  names: {
    session: ['group_id', 'openai.agents.group_id'],
    run_name: ['workflow_name', 'openai.agents.workflow_name'],
  },
}

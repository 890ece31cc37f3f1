import type { Sender } from './sender.ts'

/** OpenAI Agents, whose own exporter speaks no OTLP; bridges to OTLP follow OpenInference or the GenAI conventions. */
export const openAiAgents: Sender = {
  name: 'OpenAI Agents',
  source: 'published names: openai/openai-agents-js (group id, workflow name) as bridges send them',
  scopes: /openai[-_.]agents/,
  names: {
    session: ['group_id', 'openai.agents.group_id'],
    run_name: ['workflow_name', 'openai.agents.workflow_name'],
  },
}

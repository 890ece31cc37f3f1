import type { Sender } from './sender.ts'

/** Google's Agent Development Kit. */
export const adk: Sender = {
  name: 'Google ADK',
  source: 'recorded: @google/adk; names: google/adk-python telemetry/tracing',
  scopes: /^gcp\.vertex\.agent/,
  prefix: 'gcp.vertex.agent.',
  names: {
    session: ['gcp.vertex.agent.session_id'],
  },
  holders: ['gcp.vertex.agent.llm_response'],
  output_holds_reasoning: false,
}

import type { Sender } from './sender.ts'

/** MLflow Tracing. Values are JSON text, so names stand in quotes. */
export const mlflow: Sender = {
  name: 'MLflow',
  source: 'published names: mlflow.tracing.constant (SpanAttributeKey, TraceMetadataKey), mlflow.entities.SpanType',
  prefix: 'mlflow.',
  names: {
    model: ['mlflow.llm.model', 'mlflow.chat.model'],
    session: ['mlflow.trace.session'],
    run_name: ['mlflow.traceName'],
  },
  holders: ['mlflow.chat.tokenUsage', 'mlflow.llm.cost'],
  kinds: {
    'mlflow.spanType': {
      llm: 'model',
      chat_model: 'model',
      embedding: 'model',
      tool: 'tool',
      agent: 'agent',
      workflow: 'agent',
      retriever: 'retrieval',
      chain: null,
    },
  },
}

import type { Sender } from './sender.ts'

/** LangSmith. What it calls a session is a project; threads are its sessions. */
export const langSmith: Sender = {
  name: 'LangSmith',
  source: 'recorded: langsmith; names: langsmith/experimental/otel/constants',
  scopes: /^langsmith/,
  names: {
    model: ['langsmith.metadata.ls_model_name'],
    session: ['langsmith.metadata.session_id', 'langsmith.metadata.thread_id', 'langsmith.metadata.conversation_id'],
    project: ['langsmith.trace.session_name'],
    tags: ['langsmith.span.tags'],
  },
  exceptions_fail: true,
  holders: ['langsmith.usage_metadata', 'langsmith.metadata.usage_metadata'],
  kinds: {
    'langsmith.span.kind': { llm: 'model', embedding: 'model', tool: 'tool', retriever: 'retrieval', chain: null },
  },
}

/** Attribute names of the OpenTelemetry semantic conventions v1.41.1 that we write or read; the one place that spells them. */
export const semconv = {
  operation: 'gen_ai.operation.name',
  model: 'gen_ai.request.model',
  tool: 'gen_ai.tool.name',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  session: 'session.id',
  service: 'service.name',
  mcpMethod: 'mcp.method.name',
  scopeName: 'otel.scope.name',
  scopeVersion: 'otel.scope.version',
  links: 'otel.links',
  traceState: 'otel.trace_state',
} as const

/** Attributes that carry what OTLP has no field for, so that an export comes back as it was. */
export const guardNames = {
  traceId: 'guard.trace.id',
  project: 'guard.project.id',
  runName: 'guard.run.name',
  runStatus: 'guard.run.status',
  failureTag: 'guard.failure_tag',
  failureTagSource: 'guard.failure_tag.source',
  task: 'guard.task.id',
  tags: 'guard.tags',
  origin: 'guard.origin',
  cost: 'guard.cost_micro',
  spanId: 'guard.span.id',
  spanName: 'guard.span.name',
  spanKind: 'guard.span.kind',
  status: 'guard.status',
  statusMessage: 'guard.status_message',
  declaredParent: 'guard.declared_parent_id',
  /** Whether the span has no end, where its status does not say so. */
  unended: 'guard.span.unended',
  /** True: `gen_ai.operation.name` was added for other readers, the span itself has none. */
  operationAdded: 'guard.operation_added',
  eventId: 'guard.event.id',
  eventLevel: 'guard.event.level',
  severity: 'guard.event.severity',
  requestId: 'guard.event.request_id',
  artifact: 'guard.artifact',
  artifactId: 'guard.artifact.id',
  /** The span that an artifact names, where the run has no such span. */
  artifactSpan: 'guard.artifact.span_id',
} as const

/** Put before the attributes of a run where they stand on its root span. */
export const RUN_ATTRIBUTE = 'guard.run.attr.'
/** Put before the attributes of an artifact where they stand on its event. */
export const ARTIFACT_ATTRIBUTE = 'guard.artifact.attr.'
/** Put before an attribute whose own name means something else where it stands. */
export const ESCAPED = 'guard.attr.'
/** Put before resource attributes where they are attributes of a run. */
export const RESOURCE = 'resource.'

const eventNames = [guardNames.eventId, guardNames.eventLevel, guardNames.severity, guardNames.requestId] as const

/** Names that mean something of ours on an event. */
export const reservedOnEvents: ReadonlySet<string> = new Set([...eventNames, guardNames.artifactId])

/** Names that mean something of ours on every span. */
export const reservedOnSpans: ReadonlySet<string> = new Set([
  guardNames.spanId,
  guardNames.spanName,
  guardNames.spanKind,
  guardNames.status,
  guardNames.statusMessage,
  guardNames.declaredParent,
  guardNames.unended,
  guardNames.operationAdded,
])

/** Names that mean something of ours on the root span. */
export const reservedOnRoots: ReadonlySet<string> = new Set([
  ...reservedOnSpans,
  guardNames.traceId,
  guardNames.runName,
  guardNames.runStatus,
  guardNames.failureTag,
  guardNames.failureTagSource,
  guardNames.task,
  guardNames.tags,
  guardNames.origin,
  guardNames.cost,
  semconv.session,
  semconv.conversation,
  semconv.agentId,
  semconv.agentName,
])

const contentNames = new Set([
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.definitions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.retrieval.query.text',
  'gen_ai.retrieval.documents',
  'prompt',
  'user_prompt',
  'system_prompt',
  'completion',
  // OpenInference
  'input.value',
  'output.value',
  'tool.parameters',
  'embedding.text',
  'reranker.query',
  // OpenLLMetry
  'traceloop.entity.input',
  'traceloop.entity.output',
  // AI SDK
  'ai.value',
  'ai.values',
  'ai.embedding',
  'ai.embeddings',
  // Pydantic AI
  'all_messages_events',
  'pydantic_ai.all_messages',
  'final_result',
  'tool_arguments',
  'tool_response',
  // Claude Code
  'new_context',
  'system_prompt_preview',
  'response.model_output',
  'tool_input',
  // Langfuse and MLflow
  'langfuse.observation.input',
  'langfuse.observation.output',
  'langfuse.trace.input',
  'langfuse.trace.output',
  'mlflow.spanInputs',
  'mlflow.spanOutputs',
])
/** Lists of messages, tools or documents that are flattened into numbered names, and families of names. */
const CONTENT_PREFIX = new RegExp(
  `^(?:${[
    'gen_ai\\.(?:prompt|completion)',
    'llm\\.(?:input_messages|output_messages|prompts|completions|choices|prompt_template|tools|function_call)',
    '(?:retrieval|reranker)\\.(?:input_|output_)?documents',
    'embedding\\.embeddings',
    'ai\\.(?:prompt|(?:response|result)\\.(?:text|object|reasoning|toolCalls|files)|toolCall\\.(?:args|result|input|output))',
  ].join('|')})`,
)
const CONTENT_EVENT = /^gen_ai\.(?:.*\.message|choice)$/s

const OWN_PREFIXES = /^(?:guard\.attr\.|guard\.run\.attr\.)+/

/** Attributes that carry what people and models said, which is not kept unless full content logging is on; also where we prefixed them. */
export const isContentName = (name: string): boolean => {
  const bare = name.startsWith('guard.') ? name.replace(OWN_PREFIXES, '') : name
  return contentNames.has(bare) || CONTENT_PREFIX.test(bare)
}

/** Span events that carry it. */
export const isContentEvent = (name: string): boolean => CONTENT_EVENT.test(name)

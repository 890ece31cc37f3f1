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
  /** How many attributes of a record were left out: content where only metadata is kept, or more than a record may have. */
  dropped: 'guard.dropped_attributes',
  /** The project that its writer named, where the run belongs to another. */
  declaredProject: 'guard.declared_project_id',
  /** Put before the name of a count that was sent in another meaning than the conventions give that name. */
  sent: 'guard.sent.',
  /** A cost that the sender tells, in millionths of a US dollar. */
  toldCost: 'guard.cost_told_micro',
  /** Why counts or amounts of a span were not taken over, or are doubtful. */
  usageWarning: 'guard.usage_warning',
} as const

/** Put before the attributes of a run where they stand on its root span. */
export const RUN_ATTRIBUTE = 'guard.run.attr.'
/** Put before the attributes of an artifact where they stand on its event. */
export const ARTIFACT_ATTRIBUTE = 'guard.artifact.attr.'
/** Put before an attribute whose own name means something else where it is. */
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

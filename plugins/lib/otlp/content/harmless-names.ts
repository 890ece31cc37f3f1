/**
 * In which form the text of a harmless name is kept:
 * `label` one line of at most 256 characters; `program` a label without blanks; `url` without query and fragment;
 * `counts` an object, also as JSON text, that holds numbers alone; `error` what an error is called; `links` span links.
 */
export type HarmlessForm = 'label' | 'program' | 'url' | 'counts' | 'error' | 'links'

/** Names under `prefix`, or the prefix itself. */
const under = (prefix: string, names: string): readonly string[] =>
  names.split(' ').map((name) => (name === '' ? prefix : `${prefix}.${name}`))

/** Names whose values say what was used and how it went, never what was said. Each group with the document that defines it. */
const groups: readonly (readonly [form: HarmlessForm, names: readonly string[]])[] = [
  // OpenTelemetry semantic conventions v1.41.1, registry: gen-ai, mcp
  [
    'label',
    [
      ...under('gen_ai.request', 'model encoding_formats service_tier'),
      ...under('gen_ai.response', 'id model finish_reasons service_tier system_fingerprint'),
      ...under('openai', 'api.type request.service_tier response.service_tier response.system_fingerprint'),
      ...under('gen_ai.openai', 'request.service_tier response.service_tier response.system_fingerprint'),
      ...under('gen_ai.agent', 'id name version'),
      ...under('gen_ai.tool', 'name type call.id'),
      ...under('gen_ai', 'operation.name provider.name system output.type conversation.id data_source.id prompt.name'),
      ...under('gen_ai', 'evaluation.name evaluation.score.label token.type workflow.name'),
      ...under('mcp', 'method.name session.id protocol.version'),
      'jsonrpc.request.id',
      'jsonrpc.protocol.version',
    ],
  ],
  // the same, registry: http, url, server, client, network, user-agent, error, exception, session, user, db, rpc, code, thread, test
  [
    'label',
    [
      ...under('http', 'method request.method request.method_original route scheme flavor host status_text user_agent'),
      ...under('url', 'scheme domain template port'),
      ...under('server', 'address port'),
      ...under('client', 'address port'),
      ...under('network', 'transport type protocol.name protocol.version peer.address local.address'),
      ...under('net', 'transport peer.name peer.ip host.name host.ip'),
      ...under('error', 'type code'),
      ...under('exception', 'type'),
      ...under('session', 'id previous_id'),
      ...under('user', 'id'),
      ...under('enduser', 'id role'),
      ...under('db', 'system system.name namespace name operation operation.name collection.name'),
      ...under('rpc', 'system service method'),
      ...under('code', 'function function.name namespace file.path filepath'),
      ...under('thread', 'name'),
      ...under('test', 'case.name case.result.status suite.name suite.run.status'),
      'user_agent.original',
      'peer.service',
    ],
  ],
  // the same, resources: service, telemetry, host, os, process, container, deployment, cloud, k8s
  [
    'label',
    [
      ...under('service', 'name namespace version instance.id'),
      ...under('telemetry', 'sdk.name sdk.language sdk.version distro.name distro.version auto.version'),
      ...under('host', 'name id arch type image.id image.name'),
      ...under('os', 'type name version description build_id'),
      ...under('process', 'executable.name executable.path owner runtime.name runtime.version runtime.description'),
      ...under('container', 'id name runtime image.name image.id image.tags'),
      ...under('deployment', 'environment environment.name id name'),
    ],
  ],
  ['program', ['process.command']],
  ['url', ['url.full', 'url.path', 'url.original', 'http.url', 'http.target', 'mcp.resource.uri']],
  ['error', ['exception.message', 'error.message', 'otel.status_description']],
  // OpenInference semantic conventions: span attributes
  [
    'label',
    [
      'openinference.span.kind',
      'openinference.project.name',
      ...under('llm', 'model_name provider system finish_reason'),
      ...under('embedding', 'model_name'),
      ...under('reranker', 'model_name'),
      ...under('tool', 'name id'),
      ...under('graph.node', 'id name parent_id'),
      ...under('input', 'mime_type'),
      ...under('output', 'mime_type'),
      ...under('prompt', 'id vendor'),
      'agent.name',
      'tag.tags',
    ],
  ],
  // OpenLLMetry: @traceloop/ai-semantic-conventions
  [
    'label',
    [
      ...under('traceloop', 'span.kind entity.name entity.path entity.version workflow.name prompt.key prompt.version'),
      ...under('llm', 'vendor request.type request.model request.model_name response.model response.finish_reason'),
    ],
  ],
  // AI SDK: "Telemetry", collected data
  [
    'label',
    [
      ...under('ai', 'operationId telemetry.functionId model.id model.provider request.headers.user-agent'),
      ...under('ai.response', 'id model finishReason timestamp'),
      ...under('ai.toolCall', 'id name'),
      'operation.name',
      'resource.name',
    ],
  ],
  // Langfuse: "OpenTelemetry", property mapping
  [
    'label',
    [
      ...under('langfuse.observation', 'type level model.name completion_start_time prompt.name'),
      ...under('langfuse.trace', 'name tags'),
      ...under('langfuse', 'session.id user.id version release environment'),
    ],
  ],
  ['counts', ['langfuse.observation.usage_details', 'langfuse.observation.cost_details']],
  ['error', ['langfuse.observation.status_message']],
  // LangSmith: langsmith/experimental/otel constants; MLflow: SpanAttributeKey
  [
    'label',
    [
      ...under('langsmith', 'span.kind span.id span.tags trace.name trace.session_id trace.session_name'),
      'mlflow.spanType',
    ],
  ],
  ['counts', ['langsmith.usage_metadata', 'mlflow.chat.tokenUsage', 'mlflow.llm.cost']],
  ['counts', under('gen_ai.usage', 'input_token_details output_token_details')],
  // what the mapping of this folder adds
  ['label', ['otel.scope.name', 'otel.scope.version', 'otel.trace_state']],
  ['label', under('guard', 'reason usage_warning')],
  ['links', ['otel.links']],
  ['error', ['guard.status_message']],
]

/** The form of each name that is known to be harmless. */
export const harmlessNames: ReadonlyMap<string, HarmlessForm> = new Map(
  groups.flatMap(([form, names]) => names.map((name) => [name, form] as const)),
)

/** Families of labels: resources that name machines and deployments. */
export const LABEL_FAMILY = /^(?:k8s|cloud)\./

/** Families of identifiers: names of the gateway and of conventions, among which a program may put its own. */
export const IDENTIFIER_FAMILY = /^(?:guard\.(?!preview\.)|telemetry\.|openinference\.)/

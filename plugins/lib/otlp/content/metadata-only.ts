import type { Attributes } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { classOfName, type NameClass } from './content-names.ts'
import { addressText, errorText, isCounts, isCountsText, isIdentifier, isLabel, isPlain } from './plain-text.ts'

type Handling = HarmlessForm | NameClass

const OWN_PREFIXES = /^(?:guard\.(?:run\.|artifact\.)?attr\.|resource\.)+/

const handlingOf = (name: string): Handling => {
  const known = harmlessNames.get(name)
  if (known !== undefined) return known
  const bare = name.replace(OWN_PREFIXES, '')
  if (bare !== name) return handlingOf(bare)
  const named = classOfName(name)
  if (named === 'content') return named
  if (LABEL_FAMILY.test(name)) return 'label'
  return IDENTIFIER_FAMILY.test(name) ? 'identifier' : named
}

/** A name, and no text in the place of one. */
const NAME = /^[^\s"'`{}[\]]*$/

/** Names of what a call used and cost. */
const USAGE = /(?:usage|token|cost)/i

/** A short list of short texts is as much as one text. */
const isPlainList = (texts: readonly string[]): boolean => texts.every(isPlain) && isPlain(texts.join(' '))

/**
 * What stays of attributes that other programs sent where only metadata is kept: numbers, booleans, known identifiers and
 * short plain texts. Remembers what it found of names, so one serves a request or a file.
 */
export class MetadataOnly {
  readonly #handlings = new Map<string, Handling>()

  /** What is kept of a value; undefined if nothing is. Values that stay whole come back as they are. */
  retained(name: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#text(name, value)
    if (Array.isArray(value)) return this.#list(name, value)
    if (!isJsonObject(value)) return value
    const handling = this.#handling(name)
    return handling !== 'content' && isCounts(value) ? value : undefined
  }

  /** The attributes that stay; `dropped` receives the number of removed ones. The same object if all stay. */
  attributes(attributes: Attributes, dropped: (count: number) => void): Attributes {
    let changed = false
    let count = 0
    const stays: Record<string, unknown> = Object.create(null)
    for (const [name, value] of Object.entries(attributes)) {
      const retained = NAME.test(name) ? this.retained(name, value) : undefined
      if (retained !== value) changed = true
      if (retained === undefined) count++
      else stays[name] = retained
    }
    if (count > 0) dropped(count)
    return changed ? stays : attributes
  }

  /** How much a value is worth keeping, 0 most: usage and names of known meaning, other numbers, other metadata, content. */
  rank(name: string, value: unknown): 0 | 1 | 2 | 3 {
    const isText = typeof value === 'string' || (typeof value === 'object' && value !== null)
    if (!isText) return USAGE.test(name) || harmlessNames.has(name) ? 0 : 1
    if (this.retained(name, value) !== value) return 3
    return harmlessNames.has(name) || LABEL_FAMILY.test(name) || IDENTIFIER_FAMILY.test(name) ? 0 : 2
  }

  #handling(name: string): Handling {
    let handling = this.#handlings.get(name)
    if (handling === undefined) {
      handling = handlingOf(name)
      this.#handlings.set(name, handling)
    }
    return handling
  }

  #text(name: string, text: string): string | undefined {
    const handling = this.#handling(name)
    if (handling === 'error') return errorText(text)
    if (handling === 'url') return isLabel(addressText(text)) ? addressText(text) : undefined
    return isRetainedText(handling, text) ? text : undefined
  }

  #list(name: string, list: readonly unknown[]): unknown {
    const handling = this.#handling(name)
    if (handling === 'links') return list.map((link) => this.#link(link))
    if (handling === 'content') return undefined
    if (isCounts(list)) return list
    if (!list.every((part) => typeof part === 'string')) return undefined
    if (handling === 'label') return list.length <= 64 && list.every(isLabel) ? list : undefined
    return isPlainList(list) && list.every((text) => isRetainedText(handling, text)) ? list : undefined
  }

  #link(link: unknown): unknown {
    if (!(isJsonObject(link) && isJsonObject(link.attributes))) return link
    return { ...link, attributes: this.attributes(link.attributes, () => {}) }
  }
}

const isRetainedText = (handling: Handling, text: string): boolean => {
  switch (handling) {
    case 'label':
      return isLabel(text)
    case 'program':
      return isIdentifier(text)
    case 'identifier':
      return isPlain(text) || isIdentifier(text)
    case 'counts':
      return isCountsText(text)
    case 'free':
      return isPlain(text) && isIdentifier(text)
    case 'plain':
      return isPlain(text)
    default:
      return false
  }
}

/**
 * In which form the text of a harmless name is kept:
 * `label` one line of at most 256 characters; `program` a label without blanks; `url` without query and fragment;
 * `counts` an object, also as JSON text, that holds numbers alone; `error` what an error is called; `links` span links.
 */
type HarmlessForm = 'label' | 'program' | 'url' | 'counts' | 'error' | 'links'

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
const harmlessNames: ReadonlyMap<string, HarmlessForm> = new Map(
  groups.flatMap(([form, names]) => names.map((name) => [name, form] as const)),
)

/** Families of labels: resources that name machines and deployments. */
const LABEL_FAMILY = /^(?:k8s|cloud)\./

/** Families of identifiers: names of the gateway and of conventions, among which a program may put its own. */
const IDENTIFIER_FAMILY = /^(?:guard\.(?!preview\.)|telemetry\.|openinference\.)/

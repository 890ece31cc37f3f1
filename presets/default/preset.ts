import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { GuardError, type Mode, type Plugin, type StorageBackend } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { ollama } from 'guard-gateway/plugins/api-styles/ollama'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { cli } from 'guard-gateway/plugins/cli'
import { cluster } from 'guard-gateway/plugins/cluster'
import { contentChant } from 'guard-gateway/plugins/detectors/content-chant'
import { errorRetry } from 'guard-gateway/plugins/detectors/error-retry'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { maxRequests } from 'guard-gateway/plugins/detectors/max-requests'
import { maxTokens } from 'guard-gateway/plugins/detectors/max-tokens'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { reasoningOnly } from 'guard-gateway/plugins/detectors/reasoning-only'
import { reread } from 'guard-gateway/plugins/detectors/reread'
import { restartLoop } from 'guard-gateway/plugins/detectors/restart-loop'
import { rewordedCall } from 'guard-gateway/plugins/detectors/reworded-call'
import { sequenceRepeat } from 'guard-gateway/plugins/detectors/sequence-repeat'
import { staleTurns } from 'guard-gateway/plugins/detectors/stale-turns'
import { textRepeat } from 'guard-gateway/plugins/detectors/text-repeat'
import { threadRespawn } from 'guard-gateway/plugins/detectors/thread-respawn'
import { toolErrorStreak } from 'guard-gateway/plugins/detectors/tool-error-streak'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { wordedError } from 'guard-gateway/plugins/detectors/worded-error'
import { docs } from 'guard-gateway/plugins/docs'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { http } from 'guard-gateway/plugins/http'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import { geminiCli } from 'guard-gateway/plugins/import-formats/gemini-cli'
import { jaeger } from 'guard-gateway/plugins/import-formats/jaeger'
import { langfuse } from 'guard-gateway/plugins/import-formats/langfuse'
import { otlpLines } from 'guard-gateway/plugins/import-formats/otlp-lines'
import { zipkin } from 'guard-gateway/plugins/import-formats/zipkin'
import { mcp } from 'guard-gateway/plugins/mcp'
import { httpHosts } from 'guard-gateway/plugins/mcp-checks/http'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { injection } from 'guard-gateway/plugins/mcp-result-checks/injection'
import { secrets } from 'guard-gateway/plugins/mcp-result-checks/secrets'
import { resultSize } from 'guard-gateway/plugins/mcp-result-checks/size'
import { http as streamableHttp } from 'guard-gateway/plugins/mcp-transports/http'
import { sse } from 'guard-gateway/plugins/mcp-transports/sse'
import { stdio } from 'guard-gateway/plugins/mcp-transports/stdio'
import { metrics } from 'guard-gateway/plugins/metrics'
import { command } from 'guard-gateway/plugins/notifiers/command'
import { ntfy } from 'guard-gateway/plugins/notifiers/ntfy'
import { slack } from 'guard-gateway/plugins/notifiers/slack'
import { webhook } from 'guard-gateway/plugins/notifiers/webhook'
import { notify } from 'guard-gateway/plugins/notify'
import { otlp } from 'guard-gateway/plugins/otlp'
import { auditPush, otlpPush } from 'guard-gateway/plugins/otlp-push'
import { playground } from 'guard-gateway/plugins/playground'
import { policy } from 'guard-gateway/plugins/policy'
import { providerObjects } from 'guard-gateway/plugins/provider-objects'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay, replayMcp } from 'guard-gateway/plugins/replay'
import { responsesSocket } from 'guard-gateway/plugins/responses-socket'
import { sessions } from 'guard-gateway/plugins/sessions'
import { type NamedStorage, storageCopy } from 'guard-gateway/plugins/storage/copy'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { ui } from 'guard-gateway/plugins/ui'
import { upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { ws } from 'guard-gateway/plugins/upstream-sockets/ws'
import { auditPlaces } from './config/audit-places.ts'
import { mcpOptions } from './config/mcp-options.ts'
import type { Config } from './config.ts'
import { configuredFoundation } from './foundation.ts'
import { type ShippedPolicy, shippedRules } from './policies.ts'
import { version } from './version.ts'

/**
 * The full service. Plugins that share a hook run in this order.
 * `rules` is the shipped policy of projects without a policy; `mode` is called for every request.
 */
export const defaultPreset = (
  config: Config,
  rules: ShippedPolicy = 'default',
  mode: () => Mode = () => config.default_mode,
): readonly Plugin[] => [
  ...configuredFoundation(config),
  config.storage.backend === 'postgres' ? postgres(config.storage) : sqlite(config.storage),
  memory(),
  cluster({ version }),
  storageCopy(storageAt),
  responses,
  chatCompletions,
  messages,
  gemini,
  ollama,
  exactRepeat,
  toolRepeat,
  errorRetry,
  sequenceRepeat,
  maxRequests,
  maxTokens,
  maxCost,
  noveltyStall,
  staleTurns,
  toolErrorStreak,
  textRepeat,
  wordedError,
  rewordedCall,
  reread,
  threadRespawn,
  reasoningOnly,
  contentChant,
  restartLoop,
  json,
  jsonl,
  otel,
  claudeCode,
  codex,
  geminiCli,
  otlpLines,
  jaeger,
  langfuse,
  zipkin,
  undici,
  ws,
  http(config),
  upstream(config),
  responsesSocket(config.server),
  sessions(config.sessions),
  policy({
    get default_mode() {
      return mode()
    },
    time_zone: config.budgets.time_zone,
    load: () => shippedRules(rules),
  }),
  recorder(config.storage),
  providerObjects(),
  replay({ ...config.replay, ...config.sessions }),
  path,
  shell,
  httpHosts,
  size,
  sql,
  resultSize,
  secrets,
  injection,
  stdio,
  streamableHttp,
  sse,
  mcp(mcpOptions(config)),
  replayMcp,
  otlp({ ...config.storage, max_body_bytes: config.replay.max_otlp_bytes }),
  ...(config.replay.otlp_export.length === 0 ? [] : [otlpPush({ receivers: config.replay.otlp_export, version })]),
  ...(config.mcp.audit_export.length === 0 ? [] : [auditPush({ places: auditPlaces(config), version })]),
  webhook,
  slack,
  ntfy,
  command,
  notify(config.notify),
  playground(),
  metrics(),
  ui({ version }),
  docs({
    version,
    configuration: async () => (await import('./config/schema.ts')).configSchema,
  }),
  cli(),
]

/** A statement of a copy reads a table through, or waits for disks that are busy with one. */
const STATEMENT_MS = 600_000

/** The storage of a file path, or of an address postgres://…. Throws USAGE for an address of another kind. */
const storageAt = async (name: string, cwd: string): Promise<NamedStorage> => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase()
  if (scheme === undefined) return atFile(name, cwd)
  if (scheme === 'postgres' || scheme === 'postgresql') return atAddress(name)
  throw new GuardError(
    'USAGE',
    `There is no storage at addresses that begin with ${scheme}://; name a file, or postgres://…`,
  )
}

const atFile = (name: string, cwd: string): NamedStorage => {
  const file = resolve(cwd, name)
  const exists = existsSync(file)
  return { id: exists ? realpathSync(file) : file, title: name, exists, backend: sqlite({ file }) }
}

const atAddress = (url: string): NamedStorage => {
  const title = withoutLogin(url)
  const { id, open } = postgres({ url, statement_timeout_ms: STATEMENT_MS })
  const backend: StorageBackend = {
    id,
    open: (tables, context) =>
      open(tables, context).catch((error: unknown) => {
        throw error instanceof GuardError
          ? new GuardError(error.entry, messageOf(error, title), { cause: error })
          : error
      }),
  }
  return { id: title.replace(/^postgresql:/i, 'postgres:'), title, exists: true, backend }
}

/** The configuration has the address elsewhere. */
const messageOf = ({ message }: Error, title: string): string =>
  message.replace(/^storage\.url\b/, `The address ${title}`).replaceAll('storage.url', 'the address')

/** The password may hold anything, also what should be escaped. */
const withoutLogin = (url: string): string => url.replace(/\/\/.*@/s, '//').replace(/[?#].*$/s, '')

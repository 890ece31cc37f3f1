import { type FileHandle, open, stat } from 'node:fs/promises'
import { type Gateway, type Services, stages } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { otlpAttributes } from '#lib/otlp'
import { Pace } from '#lib/time-slice'
import { Delivery } from './delivery.ts'
import type { Waiting } from './export-queue.ts'
import type { ExportResult, Signal } from './export-result.ts'
import { clientOf, HttpDelivery } from './http-delivery.ts'
import { type ExportSource, endReceivers, healthOf, type ReadBatch, Receiver } from './receiver.ts'
import type { AuditPlace } from './receiver-options.ts'
import { type Compression, encoders, type RequestBody } from './request-bodies.ts'

/** Who looks at a file sees a record soon after it came. */
const FILE_DELAY_MS = 200

/** Queues each record of the audit for each place. Throws MISSING_PLUGIN without an HTTP client, and TypeError for an invalid address. */
export const startAuditPush = (gateway: Gateway, places: readonly AuditPlace[], version: string): void => {
  const receivers = places.map((place) => receiverOf(gateway, place, version))
  gateway
    .service('auditRecords')
    .need()
    .onRecord((id, project_id) => {
      const waiting: QueuedRecord = { id, count: 1, since: gateway.clock.tick() }
      for (const receiver of receivers) receiver.add(waiting, project_id ?? undefined)
    })
  // runs after all plugins that may still write records
  gateway.hooks.close.tapPromise({ name: 'audit-push', stage: stages.close.push }, () => endReceivers(receivers))
  gateway.health.set('audit_push', () => healthOf(receivers))
}

const receiverOf = (gateway: Gateway, place: AuditPlace, version: string): Receiver<QueuedRecord> => {
  if ('file' in place) {
    const source = new AuditSource(gateway, place.projects, jsonLines)
    return new Receiver(gateway, new FileDelivery(gateway, place.file), source, { ...place, delay_ms: FILE_DELAY_MS })
  }
  const delivery = new HttpDelivery(gateway, clientOf(gateway), place, RECORDS)
  const source = new AuditSource(gateway, place.projects, logRequests(version, place.compression))
  return new Receiver(gateway, delivery, source, place)
}

/** One record a line, as `guard mcp export --format jsonl` writes them. */
const jsonLines: RecordEncoder = async function* (records) {
  if (records.length === 0) return
  const text = records.map((record) => `${writeJson({ type: 'event', ...record })}\n`).join('')
  yield { bytes: Buffer.from(text), count: records.length }
}

/** Characters of a request, unless a single record has more. */
const BODY_CHARS = 2 * 1024 * 1024

/** Records as requests of OTLP/JSON to `/v1/logs`. */
const logRequests = (version: string, compression: Compression = 'gzip'): RecordEncoder =>
  async function* (records) {
    const pace = new Pace()
    let texts: string[] = []
    let chars = 0
    const body = async (): Promise<RequestBody> => ({
      bytes: await encoders[compression](requestOf(texts, version)),
      count: texts.length,
    })
    for (const record of records) {
      const text = writeJson(logRecord(record))
      if (texts.length > 0 && chars + text.length > BODY_CHARS) {
        yield await body()
        texts = []
        chars = 0
      }
      texts.push(text)
      chars += text.length
      if (pace.due) await pace.rest()
    }
    if (texts.length > 0) yield await body()
  }

const requestOf = (records: readonly string[], version: string): string => {
  const resource = writeJson(otlpAttributes({ 'service.name': 'guard-gateway', 'service.version': version }))
  const scope = writeJson({ name: 'guard-gateway', version })
  return `{"resourceLogs":[{"resource":${resource},"scopeLogs":[{"scope":${scope},"logRecords":[${records.join(',')}]}]}]}`
}

/** As OpenTelemetry numbers and calls them. */
const SEVERITIES = { info: [9, 'INFO'], warn: [13, 'WARN'], error: [17, 'ERROR'] } as const

/** What has a field of its own in a log record, or says the same as another member. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['schema', 'id', 'name', 'time', 'time_ns', 'trace_id', 'span_id', 'severity', 'attributes', 'origin'],
])

const logRecord = (record: AuditRecord): object => {
  const { id, name, time_ns, trace_id, span_id, severity, session_id, tool } = record
  const [severityNumber, severityText] = SEVERITIES[severity]
  const own = Object.entries(record)
    .filter(([key, value]) => !ELSEWHERE.has(key) && !(Array.isArray(value) && value.length === 0))
    .map(([key, value]) => [`guard.mcp.${key}`, value] as const)
  const attributes = {
    'guard.mcp.record_id': id,
    ...(session_id === null ? {} : { 'mcp.session.id': session_id }),
    ...(tool === null ? {} : { 'gen_ai.tool.name': tool }),
    ...Object.fromEntries(own),
  }
  return {
    timeUnixNano: String(time_ns),
    observedTimeUnixNano: String(time_ns),
    severityNumber,
    severityText,
    eventName: `guard.mcp.${name}`,
    body: { stringValue: sentence(record) },
    ...otlpAttributes(attributes),
    ...(isHex(trace_id, 32) ? { traceId: trace_id } : {}),
    ...(isHex(trace_id, 32) && isHex(span_id, 16) ? { spanId: span_id } : {}),
  }
}

const isHex = (id: string | null, digits: number): boolean =>
  id !== null && id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id)

/** `deny write_file on fs: no rule matches`. */
const sentence = ({ name, action, tool, server_id, reason }: AuditRecord): string => {
  const what = [action ?? name, tool, server_id === null ? null : `on ${server_id}`].filter((word) => word !== null)
  return reason === null ? what.join(' ') : `${what.join(' ')}: ${reason}`
}

const RECORDS: Signal = { default_path: '/v1/logs', rejected: 'rejectedLogRecords', parts: 'audit records' }

interface QueuedRecord extends Waiting {
  readonly id: string
}

/** A record as it is stored: redacted, and without arguments. */
type AuditRecord =
  Awaited<ReturnType<Services['auditRecords']['read']>> extends ReadonlyMap<string, infer Record> ? Record : never

/** Encodes records as bodies, in their order, and yields to other work. */
type RecordEncoder = (records: readonly AuditRecord[]) => AsyncIterable<RequestBody>

/** Reads records of the audit from stored rows, for one place. */
class AuditSource implements ExportSource<QueuedRecord> {
  readonly #gateway: Gateway
  readonly #projects: ReadonlySet<string> | undefined
  readonly #encode: RecordEncoder

  constructor(gateway: Gateway, projects: readonly string[] | undefined, encode: RecordEncoder) {
    this.#gateway = gateway
    this.#projects = projects === undefined ? undefined : new Set(projects)
    this.#encode = encode
  }

  async read(queued: readonly QueuedRecord[]): Promise<ReadBatch<QueuedRecord>> {
    const ids = [...new Set(queued.map(({ id }) => id))]
    const byId = await this.#gateway.service('auditRecords').need().read(ids)
    const found = queued.flatMap(({ id }) => byId.get(id) ?? [])
    const wanted = found.filter(
      ({ project_id }) => this.#projects === undefined || this.#projects.has(project_id ?? ''),
    )
    return { bodies: this.#encode(wanted), missing: queued.filter(({ id }) => !byId.has(id)) }
  }
}

/** Only the user of the gateway reads what tools were called with what result. */
const MODE = 0o600
const NEWLINE = Buffer.from('\n')

/** Appends batches of whole lines to a file. It is opened anew where another one stands under its name. */
export class FileDelivery extends Delivery {
  readonly display: string
  #file: FileHandle | undefined
  /** The last write broke off within a line that could not be taken back. */
  #isTorn = false

  constructor(gateway: Gateway, file: string) {
    super(gateway, 'Audit records')
    this.display = file
  }

  protected async attempt({ bytes }: RequestBody): Promise<ExportResult> {
    try {
      const file = await this.#current()
      await this.#append(file, this.#isTorn ? Buffer.concat([NEWLINE, bytes]) : bytes)
      return { kind: 'accepted', rejected: 0 }
    } catch (error) {
      await this.#forget()
      return { kind: 'retryable', wait_ms: null, error: `The file cannot be written: ${reasonOf(error)}.` }
    }
  }

  protected close(): void {
    void this.#forget()
  }

  /** The open file, if it is still the one of this name: another program may have moved it away. */
  async #current(): Promise<FileHandle> {
    if (this.#file !== undefined && !(await isAt(this.#file, this.display))) await this.#forget()
    this.#file ??= await open(this.display, 'a', MODE)
    return this.#file
  }

  /** Writes all, or takes back what was written of it if nobody has written behind it. */
  async #append(file: FileHandle, bytes: Buffer): Promise<void> {
    const { size } = await file.stat()
    let written = 0
    try {
      while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
      this.#isTorn = false
    } catch (error) {
      if (written > 0) this.#isTorn = !(await isTakenBack(file, size, written))
      throw error
    }
  }

  async #forget(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => {})
  }
}

const isAt = async (file: FileHandle, path: string): Promise<boolean> => {
  const [own, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  return there !== undefined && there.ino === own.ino && there.dev === own.dev
}

const isTakenBack = async (file: FileHandle, size: number, written: number): Promise<boolean> => {
  try {
    if ((await file.stat()).size !== size + written) return false
    await file.truncate(size)
    return true
  } catch {
    return false
  }
}

const words: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the quota of its disk is used up',
  EFBIG: 'no file may be larger',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'its folder is not there',
  ENOTDIR: 'its folder is not there',
  EISDIR: 'it is a folder',
  EROFS: 'its disk is read-only',
}

const reasonOf = (error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException
  return words[code] ?? (code === '' ? message : code)
}

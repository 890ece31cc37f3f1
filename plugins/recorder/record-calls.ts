import {
  type ApiStyle,
  type Call,
  type Change,
  type Gateway,
  GuardError,
  isPlain,
  type Part,
  type Redactor,
  type Session,
  type Settled,
} from 'guard-gateway/core'
import { withInflated } from '#lib/http'
import { jsonObjectOf, listOf } from '#lib/json'
import type { Claims } from '#lib/session'
import { cutBeforeRedaction, cutText, dropUnfinishedWord } from '#lib/text'
import { type CallRecord, newCallRecord, type Previews, traceOf } from '#lib/trace'
import type { HourSums } from './figures/hour-sums.ts'
import { flagSums, noteSettled, repeatedFlag } from './flags/flag-sums.ts'
import type { OpenCalls } from './open-calls.ts'
import { replyText } from './reply-text.ts'
import type { WriteBehindTotals } from './write-behind-totals.ts'

export interface RecorderOptions {
  /** Store redacted previews of requests and replies. */
  readonly full_content_logging?: boolean
}

/** Records settled calls with one write each. The promise resolves when the write is durable, and waits while the disk is full. Rejects if the write fails. */
export const callRecorder = (
  gateway: Gateway,
  totals: WriteBehindTotals,
  sums: HourSums,
  open: OpenCalls,
  { full_content_logging = false }: RecorderOptions,
) => {
  /** Pending records of blocked requests. Repeats wait for them, because they increment them. */
  const blocks = new Map<string, Promise<void>>()
  const pendingRetries = new Set<Promise<void>>()
  const withSessionRow = sessionRowLock()
  const sharedClaims = gateway.service('claims')

  const write = async (entry: Entry, attempt: number): Promise<void> => {
    const { settled, record, flags } = entry
    const { session } = settled.call
    // the row of a call is also its decision in the session's history
    const batch: Change[] = [{ table: 'calls', put: record, when: 'absent' }]
    await gateway.hooks.record.promise({ settled, record, attempt, batch })
    const claims = sharedClaims.get()
    if (claims !== undefined) return writeShared(claims, entry, attempt, batch)
    const change = totalsChange(settled, attempt)
    if (change !== undefined) batch.push(change)
    batch.push(sums.call(record), ...flags, ...open.ended(record.id))
    const onRefused = () => retryAnswered(entry, attempt + 1)
    const written = await gateway.storage.write(batch, { hold: true, onRefused })
    if (!written) await retry(entry, attempt + 1)
    else if (session !== null && change !== undefined) totals.stored(session, change)
  }

  const totalsChange = (settled: Settled, attempt: number): Change | undefined => {
    const { session } = settled.call
    if (session === null) return undefined
    return attempt === 0 ? totals.changeFor(session, settled) : totals.changeNow(session)
  }

  /** Writes a record where other processes add to the same session. */
  const writeShared = async (claims: Claims, entry: Entry, attempt: number, batch: readonly Change[]) => {
    const { settled, record, flags } = entry
    const isWritten = await claims.settle(settled, (more) =>
      gateway.storage.write([...batch, ...more, sums.call(record), ...flags], { hold: true }),
    )
    if (!isWritten) await retry(entry, attempt + 1)
  }

  /** Retries a failed write after the client has its reply. */
  const retryAnswered = (entry: Entry, attempt: number): Promise<void> => {
    const writing = retry(entry, attempt)
      .catch((error: unknown) => gateway.fault(error, 'recorder:late'))
      .finally(() => pendingRetries.delete(writing))
    pendingRetries.add(writing)
    return writing
  }

  /** Repeats a write if the session or trace changed in the meantime. */
  const retry = async (entry: Entry, attempt: number): Promise<void> => {
    const { id, session } = entry.settled.call
    if (attempt === ATTEMPTS)
      throw new GuardError(
        'STORAGE_BUSY',
        `Request ${id} could not be recorded: its session or its trace changed at the same time.`,
      )
    await refreshStored(gateway, session)
    await write(entry, attempt)
  }

  const writeRecord = (settled: Settled, previews: Previews): Promise<void> => {
    const continues = gateway.apiStyles.get(settled.call.style)?.continues === true
    const record = newCallRecord(settled, gateway.redact, previews, continues)
    return write({ settled, record, flags: flagSums(settled, record) }, 0)
  }

  const record = (settled: Settled): Promise<void> => {
    const writeWith = (previews: Previews) => withSessionRow(settled.call.session, () => writeRecord(settled, previews))
    return full_content_logging ? previewsOf(gateway, settled).then(writeWith) : writeWith(NO_PREVIEWS)
  }

  const recordCall = (settled: Settled): Promise<void> => {
    const { call, decision } = settled
    noteSettled(settled)
    const writing = record(settled)
    if (decision.decision !== 'block') return writing
    blocks.set(call.id, writing)
    return writing.finally(() => blocks.delete(call.id))
  }

  const recordRepeat = async (settled: Settled, first: string): Promise<void> => {
    await blocks.get(first)?.catch(() => {})
    if (!(await countRepeat({ gateway, totals, sums }, settled, first))) await recordCall(settled)
  }

  return {
    record: (settled: Settled): Promise<void> => {
      const { repeats } = settled.decision
      return repeats === null ? recordCall(settled) : recordRepeat(settled, repeats)
    },
    /** Resolves when every record is stored. */
    end: async (): Promise<void> => {
      do {
        await gateway.storage.flush()
        await Promise.all(pendingRetries)
      } while (pendingRetries.size > 0)
    },
  }
}

/** A settled call, its row, and what it adds to the flags of its session. */
interface Entry {
  readonly settled: Settled
  readonly record: CallRecord
  readonly flags: readonly Change[]
}

/** Attempts, because other writers may change the session or the trace. */
const ATTEMPTS = 6
const NO_PREVIEWS: Previews = { request: null, response: null }

/** Checks whether a session's row is stored, because other processes may insert or delete it. */
const refreshStored = async (gateway: Gateway, session: Session | null): Promise<void> => {
  if (session !== null) session.stored = (await gateway.storage.get('sessions', session.row.id)) !== undefined
}

/** What counts calls beside their records. */
interface Counters {
  readonly gateway: Gateway
  readonly totals: WriteBehindTotals
  readonly sums: HourSums
}

/** Counts an identical blocked request on the first record; false if that is not stored. */
const countRepeat = ({ gateway, totals, sums }: Counters, { call }: Settled, first: string): Promise<boolean> =>
  gateway.storage.exclusive('calls', first, async (read) => {
    const record = await read.get('calls', first)
    if (record === undefined) return [false, []]
    const trace = traceOf(record)
    if (trace !== undefined) call.trace = trace
    const patch = { retries: record.retries + 1, last_at: call.at, last_request_id: call.id }
    const batch: Change[] = [{ table: 'calls', key: first, patch }, sums.repeat(record), ...repeatedFlag(record)]
    const { session } = call
    // where other processes count too, their decisions have written the session
    if (gateway.service('claims').get() !== undefined) return [true, batch]
    if (session !== null && (await read.get('sessions', session.row.id)) !== undefined) {
      session.stored = true
      batch.push(totals.changeNow(session))
    }
    return [true, batch]
  })

/** Reports a failing preview as a fault. The record is written without it. */
const previewsOf = async (gateway: Gateway, settled: Settled): Promise<Previews> => {
  const style = gateway.apiStyles.get(settled.call.style)
  const { project_id, id: session_id } = settled.call.session?.row ?? {}
  try {
    return await gateway
      .service('redaction')
      .need()
      .within({ project_id, session_id }, async (redact) => ({
        request: style === undefined ? null : await requestPreview(settled.call, style, redact),
        response: responsePreview(settled, redact),
      }))
  } catch (error) {
    gateway.fault(error, 'recorder:preview')
    return NO_PREVIEWS
  }
}

type Write = () => Promise<void>

/** Serialises writes until the session's row is stored: the first write of a session inserts its row. */
const sessionRowLock = (): ((session: Session | null, write: Write) => Promise<void>) => {
  const storing = new WeakMap<Session, Promise<void>>()
  const locked = async (session: Session, write: Write): Promise<void> => {
    for (let first = storing.get(session); first !== undefined; first = storing.get(session)) await first
    if (session.stored === true) return write()
    const writing = write()
    storing.set(
      session,
      writing.catch(() => {}).finally(() => storing.delete(session)),
    )
    return writing
  }
  // most sessions are stored, and each promise costs time
  return (session, write) => (session === null || session.stored === true ? write() : locked(session, write))
}

/** Characters of a stored preview. */
const PREVIEW_CHARS = 500
/** Characters of redacted input; later ones cannot appear in a preview. */
const INPUT_CHARS = 8_192
const MAX_INFLATED_BYTES = 64 * 1024 * 1024

/** New part of a conversation: user text and tool results since the last assistant turn; null if unknown. */
const requestPreview = async (call: Call, style: ApiStyle, redact: Pick<Redactor, 'text'>): Promise<string | null> => {
  const encoding = call.headers['content-encoding']
  const read = (plain: Buffer): string =>
    newest(call, style, listOf(jsonObjectOf(JSON.parse(plain.toString()))[style.list]))
  const text = isPlain(encoding) ? read(call.body) : await withInflated(call.body, encoding, MAX_INFLATED_BYTES, read)
  return preview(text, false, redact)
}

/** Start of the reply's text, or the provider's error message; never reasoning. Null if there is neither. */
const responsePreview = (settled: Settled, redact: Pick<Redactor, 'text'>): string | null => {
  const { head, error, bytes_out } = settled
  return error === null
    ? preview(replyText(head), bytes_out > head.length, redact)
    : preview(error.message, false, redact)
}

/** Redacts before truncation, because half a secret would remain otherwise. `truncated`: the input was already cut. */
const preview = (text: string, truncated: boolean, redact: Pick<Redactor, 'text'>): string | null => {
  const input =
    truncated && text.length <= INPUT_CHARS ? dropUnfinishedWord(text) : cutBeforeRedaction(text, INPUT_CHARS)
  if (input === '') return null
  return cutText(redact.text(input), PREVIEW_CHARS)
}

const newest = (call: Call, style: ApiStyle, list: readonly unknown[]): string => {
  const { before, after } = call.envelope
  const backwards: string[] = []
  let isDone = collectTexts(after, backwards)
  for (let index = list.length - 1; index >= 0 && !isDone; index--)
    isDone = collectTexts(style.parts(list[index]), backwards)
  if (!isDone) collectTexts(before, backwards)
  return backwards.reverse().join('\n')
}

/** Collects the texts of the parts, last first. True at an assistant turn, which ends the search. */
const collectTexts = (parts: readonly Part[], backwards: string[]): boolean => {
  const found: string[] = []
  let turn = false
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'call') turn = true
    else if (part.kind !== 'system' && part.text !== '') found.push(part.text)
  }
  for (const text of found.reverse()) backwards.push(text)
  return turn && backwards.length > 0
}

import type { ToolCall } from 'guard-gateway/core'
import { shortSha256 } from '#lib/ids'
import { hasRoundedInteger, readJson } from '#lib/json'
import { effectOf } from '#lib/tools'
import { isNotice, isPending } from '../results/notices.ts'
import { unframeResult } from '../results/unframe-result.ts'
import { contentHash } from './content-hash.ts'
import { canonical, field, inArguments } from './fingerprint.ts'
import { withoutReminders } from './system-reminders.ts'

/** Argument text that nests deeper is not parsed. */
const DEPTH_LIMIT = 128

/** The key of a call: the hash of the tool's name and of its arguments as `argumentText` returns them. Equal calls have equal keys, whatever their ids. */
export const callKey = (tool: string, args: string): string => shortSha256(`${field(tool)}\0${args}`)

/** Arguments as canonical text. JSON text and its parsed value give the same text, and so do absent, null, `""` and `{}`. Integers keep every digit. */
export const argumentText = (args: unknown): string => {
  if (typeof args !== 'string') return args === undefined || args === null ? '{}' : canonical(args, inArguments)
  const text = args.trim()
  if (text === '') return '{}'
  if (text[0] !== '{' && text[0] !== '[') return text
  if (nestsTooDeep(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return canonical(hasRoundedInteger(value) ? readJson(text) : value, inArguments)
  } catch {
    return text
  }
}

/** A call as rules see it, without its result. */
export const calledTool = (tool: string, args: unknown): Pick<ToolCall, 'tool' | 'key' | 'effect'> => {
  const text = argumentText(args)
  return { tool, key: callKey(tool, text), effect: effectOf(tool, text) }
}

/** Whether brackets nest too deep to parse. Brackets within strings count too, so a text may be compared as text without need. */
const nestsTooDeep = (text: string): boolean => {
  if (text.length <= DEPTH_LIMIT) return false
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index) | 0x20
    if (unit === 0x7b && ++depth > DEPTH_LIMIT) return true
    if (unit === 0x7d) depth--
  }
  return false
}

/** A tool result as rules see it. */
export interface ResultSummary {
  /** The hash of the result; null for an empty one, which proves nothing. */
  readonly result: string | null
  readonly error: boolean
  /** The client says that the tool did not fail, or the result is short and no failure is known. */
  readonly passed: boolean
  /** The text says that something is still running. */
  readonly pending: boolean
  /** The text is the client's own word for a call that it ended or did not make, and says nothing about it. */
  readonly notice: boolean
  /** The length of the text in UTF-8 bytes. */
  readonly bytes: number
}

/** A result of fewer bytes without a sign of failure counts as passed: checks that pass print little. */
const SHORT_BYTES = 200

/** The summary of a result. `flagged`: whether the API style flags it as an error; null if it flags nothing. */
export const resultSummary = (text: string, blocks: string, flagged: boolean | null): ResultSummary => {
  const plain = withoutReminders(text)
  const framed = unframeResult(plain)
  const failed = framed.failed ?? (flagged === null && hasFailed(plain) ? true : null)
  const error = flagged === true || failed === true
  const counted = error ? masked(withoutRunLines(plain)) : withoutRunLines(framed.body)
  const { hash = null, bytes } = contentHash(counted, blocks)
  return {
    result: hash,
    error,
    passed: !error && (flagged === false || failed === false || Buffer.byteLength(text) < SHORT_BYTES),
    pending: !error && isPending(plain),
    notice: error && (framed.body === '' || isNotice(plain)),
    bytes: counted === text ? bytes : Buffer.byteLength(text),
  }
}

/** The text of a result as rules compare it: without reminders, lines about the process, and the frame of the client. */
export const plainResult = (text: string): string => withoutRunLines(unframeResult(withoutReminders(text)).body)

const CHUNK = 'Chunk ID: '
const TIME = 'Wall time: '
const EXIT = 'xit'
const LOUD_EXIT = 'XIT'

/** Codex puts lines before each command result that differ every time. */
const withoutRunLines = (text: string): string =>
  text.includes(CHUNK) || text.includes(TIME)
    ? text.replace(/(?<![^\n\r])(?:Chunk ID|Wall time): [^\n\r]*(?:\n|(?=\r)|$)/g, '')
    : text

const masked = (text: string): string => text.replace(/0x[0-9a-f]+|\d+/gi, '#')

const exitLine = /\b(?:exit code:?|exited with code|non-zero exit status)[ \t]*(-?\d{1,10})/i

/** Whether an exit code or a structured flag says that it failed; words such as "exception" never do. */
const hasFailed = (text: string): boolean => {
  if (jsonStart.test(text) && hasFailedJson(text)) return true
  const exit = text.includes(EXIT) || text.includes(LOUD_EXIT) ? exitLine.exec(text) : null
  return exit !== null && Number(exit[1]) !== 0
}

const jsonStart = /^\s{0,64}[[{]/

const hint = /"(?:isError|success|exit_?[cC]ode|returncode)"/

const hasFailedJson = (text: string): boolean => {
  if (!hint.test(text) || nestsTooDeep(text)) return false
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).some(isFailedRecord)
  } catch {
    return false
  }
}

const isFailedRecord = (value: unknown): boolean => {
  if (value === null || typeof value !== 'object') return false
  const record = value as Readonly<Record<string, unknown>>
  if (record.isError === true || record.success === false) return true
  return ['exit_code', 'exitCode', 'returncode'].some((name) => typeof record[name] === 'number' && record[name] !== 0)
}

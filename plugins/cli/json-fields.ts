import { Writable } from 'node:stream'
import { GuardError } from 'guard-gateway/core'
import type { Command, Io } from '#lib/command'
import { isJsonObject, type JsonObject, readJson, writeJson } from '#lib/json'
import type { Token } from './flags.ts'
import { suggestion } from './suggestion.ts'

/** Takes the fields of `--json` out of a command line: what `=` joins to it, or the word after it where that has a comma or is one word more than the command takes. `length`: words of the command's name. */
export const takeFields = (
  tokens: readonly Token[],
  command: Command | undefined,
  length: number,
): { readonly tokens: readonly Token[]; readonly jsonFields?: readonly string[] } => {
  const at = tokens.findIndex((token) => token.word === undefined && token.flag?.name === 'json')
  const token = tokens[at]
  if (token === undefined || token.word !== undefined || command === undefined) return { tokens }
  if (token.value !== undefined) return { tokens, jsonFields: token.value.split(',') }
  const next = tokens[at + 1]?.word
  const words = (some: readonly Token[]): number => some.filter(({ word }) => word !== undefined).length
  if (next === undefined || words(tokens.slice(0, at)) < length) return { tokens }
  if (!next.includes(',') && words(tokens) - length <= mostArgs(command)) return { tokens }
  return { tokens: tokens.filter((_token, index) => index !== at + 1), jsonFields: next.split(',') }
}

const mostArgs = ({ args = '' }: Command): number => {
  if (args.startsWith('[--')) return 0
  return args.includes('...') ? Number.POSITIVE_INFINITY : args.split(' ').filter(Boolean).length
}

/** Results of which only these fields reach `out`: each JSON document that is written is cut to them, a list in it row by row. */
export class FieldFilter extends Writable {
  readonly #fields: readonly string[]
  readonly #out: Io['out']
  #waiting = ''
  #fault: unknown

  constructor(fields: readonly string[], out: Io['out']) {
    super({ decodeStrings: false })
    this.#fields = fields
    this.#out = out
    // who ends when the reader leaves, ends on a fault too
    this.on('error', () => {})
  }

  /** Ends the output. Throws USAGE for a field that no document has. */
  async finish(): Promise<void> {
    if (!this.destroyed) await new Promise<void>((resolve) => this.end(resolve))
    if (this.#fault !== undefined) throw this.#fault
  }

  override _write(chunk: string | Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#waiting += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    const end = this.#waiting.lastIndexOf('\n')
    const documents = end < 0 ? undefined : readable(this.#waiting.slice(0, end))
    if (documents === undefined) {
      done()
      return
    }
    this.#waiting = this.#waiting.slice(end + 1)
    try {
      this.#out.write(documents.map((one) => `${writeJson(chosenFields(one, this.#fields))}\n`).join(''), () => done())
    } catch (error) {
      this.#fault = error
      done(error as Error)
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    // what is no JSON is passed on as it is
    if (this.#waiting === '') done()
    else this.#out.write(this.#waiting, () => done())
  }
}

/** One document, or one a line; undefined for what is none as yet. */
const readable = (text: string): readonly unknown[] | undefined => {
  if (text.trim() === '') return []
  if (!/[}\]]\s*$/.test(text)) return undefined
  try {
    return [readJson(text)]
  } catch {
    const lines = text.split('\n')
    if (lines.length === 1) return undefined
    const documents = lines.map((line) => readable(line))
    return documents.includes(undefined) ? undefined : documents.flatMap((some) => some ?? [])
  }
}

/** Some fields of a document: of each row of a list, of the document, or of the one thing that it is about (`status` of a run that stands beside its spans). `run.status` is a field in a field. Throws USAGE for one that there is not. */
export const chosenFields = (document: unknown, fields: readonly string[]): unknown => {
  const list = listIn(document)
  const subject = list === undefined ? subjectOf(document) : undefined
  const rows = list ?? [document]
  const known = [...new Set([...rows, subject].flatMap((row) => Object.keys(isJsonObject(row) ? row : {})))]
  const valueOfField = (row: unknown, field: string): unknown => {
    const value = valueAt(row, field)
    return value === undefined ? valueAt(subject, field) : value
  }
  if (rows.length > 0)
    for (const field of fields) {
      if (rows.some((row) => valueOfField(row, field) !== undefined)) continue
      throw new GuardError(
        'USAGE',
        `There is no field "${field}"; there is ${known.join(', ')}.${suggestion(field, known)}`,
        { known },
      )
    }
  const chosen = rows.map((row) => Object.fromEntries(fields.map((field) => [field, valueOfField(row, field) ?? null])))
  return list === undefined ? chosen[0] : chosen
}

/** The rows of a page of a list, or of a document that is nothing but a list. */
const listIn = (document: unknown): readonly unknown[] | undefined => {
  if (!isJsonObject(document)) return Array.isArray(document) ? document : undefined
  const lists = Object.values(document).filter((member) => Array.isArray(member))
  const isList = 'next_cursor' in document || Object.keys(document).length === 1
  return isList && lists.length === 1 ? lists[0] : undefined
}

/** The one member of a document that is an object: what the document is about. */
const subjectOf = (document: unknown): JsonObject | undefined => {
  const objects = isJsonObject(document) ? Object.values(document).filter(isJsonObject) : []
  return objects.length === 1 ? objects[0] : undefined
}

const valueAt = (row: unknown, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      row,
    )

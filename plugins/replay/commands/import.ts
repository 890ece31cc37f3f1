import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import { readJson } from 'guard-gateway/lib/json'
import { terminalText } from 'guard-gateway/lib/text'
import type { ImportAnswer } from '../import/import.ts'
import { isAddressable } from '../run-address.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { Progress } from './progress.ts'

/** Imports a file of exported runs, or stdin for `-`, atomically. Prints trace ids, and skipped runs on `err`. Throws USAGE for an unreadable file. */
export const importFile = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const { file, bytes } = await opened(input.args[0] ?? '', io)
  const query = new URLSearchParams({ on_conflict: String(input.options.onConflict ?? 'remap') })
  if (input.options.project !== undefined) query.set('project_id', String(input.options.project))
  if (input.options.dryRun === true) query.set('dry_run', 'true')
  const progress = new Progress('importing', bytes, input, io)
  try {
    const answer = await asking(async (ask) =>
      text(await ask('POST', `/api/v1/runs/import?${query}`, Readable.from(progress.counted(file)))),
    )
    progress.done()
    if (input.options.json === true) io.out.write(`${answer}\n`)
    else say(readJson(answer) as ImportAnswer, input, io)
    return 0
  } finally {
    progress.done()
    file.destroy()
  }
}

/** The input; `bytes` is undefined for a stream. */
const opened = async (
  name: string,
  io: Io,
): Promise<{ readonly file: Readable; readonly bytes: number | undefined }> => {
  if (name === '-') {
    if (io.in === undefined) throw new GuardError('USAGE', 'Nothing comes in that could be imported.')
    return { file: Readable.from(io.in), bytes: undefined }
  }
  const path = resolve(io.cwd, name)
  try {
    const found = await stat(path)
    if (found.isDirectory()) throw new Error('it is a folder')
    const file = createReadStream(path)
    await new Promise((ready, failed) => file.once('open', ready).once('error', failed))
    return { file, bytes: found.isFile() ? found.size : undefined }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new GuardError('USAGE', `${name} cannot be read: ${why}.`, { cause })
  }
}

const say = (answer: ImportAnswer, { options }: Input, io: Io): void => {
  for (const { trace_id } of answer.imported) io.out.write(`${trace_id}\n`)
  if (options.quiet === true) return
  for (const line of remarks(answer)) io.err.write(`${line}\n`)
}

/** Notes about remapped ids, skipped runs and warnings. */
function* remarks({ imported, skipped, warnings, dry_run }: ImportAnswer): Generator<string> {
  for (const { trace_id, source_trace_id, remapped } of imported)
    if (remapped)
      yield `${conflictText(source_trace_id)}; ${dry_run ? 'it would get a new id' : `imported as ${trace_id}`}`
  for (const { source_trace_id } of skipped) yield `${source_trace_id} exists already; skipped`
  for (const warning of warnings) {
    const line = 'line' in warning && warning.line !== undefined ? `line ${warning.line}: ` : ''
    yield `warning: ${line}${terminalText(warning.message)}`
  }
  if (dry_run) yield 'Nothing was imported: this was a dry run.'
}

/** Why a run got another id. */
const conflictText = (trace_id: string): string =>
  isAddressable(trace_id) ? `${trace_id} exists already` : `No run can be called ${trace_id}`

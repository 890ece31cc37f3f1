import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { GuardError } from 'guard-gateway/core'
import type { AskStream, Input, Io } from '#lib/command'
import { readJson, writeJson } from '#lib/json'
import { terminalLine, terminalText } from '#lib/text'
import { type ImportUnit, importUnits } from '#lib/trace-file'
import type { ImportAnswer } from '../import/import.ts'
import { isAddressable } from '../run-address.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { Progress } from './progress.ts'

/** A file that was not imported, and why. */
interface FailedFile {
  readonly file: string
  readonly code: string
  readonly message: string
  /** It is of no known format. */
  readonly unknown: boolean
}

/**
 * Imports files, each atomically: those named, stdin for `-`, and all below a folder. Prints trace ids, and skipped runs on
 * `err`. One file that cannot be imported is an error; of several the others are imported, and the exit code is 1.
 * Throws USAGE for an unreadable file.
 */
export const importFile = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const { units, searched } = await importUnits(input.args, io)
  const query = queryOf(input, searched)
  const total = units.reduce<number | undefined>((sum, { bytes }) => sum && bytes && sum + bytes, 1)
  const progress = new Progress('importing', total, input, io)
  const answers: ImportAnswer[] = []
  const failed: FailedFile[] = []
  try {
    await asking(async (ask) => {
      for (const unit of units) {
        const answer = await sent(ask, unit, query, progress).catch((error: unknown) => {
          if (units.length === 1 || !(error instanceof GuardError)) throw error
          failed.push({
            file: unit.name,
            code: error.code,
            message: error.message,
            unknown: error.place.known !== undefined,
          })
        })
        if (answer !== undefined) answers.push(answer)
      }
    })
    progress.done()
    say(answers, failed, searched, input, io)
    // in a folder files of other kinds lie beside sessions
    return failed.some(({ unknown }) => !(searched && unknown)) ? 1 : 0
  } finally {
    progress.done()
  }
}

const queryOf = ({ options }: Input, searched: boolean): URLSearchParams => {
  // sessions of a folder are imported again as they grow in number
  const query = new URLSearchParams({ on_conflict: String(options.onConflict ?? (searched ? 'skip' : 'remap')) })
  if (options.project !== undefined) query.set('project_id', String(options.project))
  if (options.dryRun === true) query.set('dry_run', 'true')
  return query
}

const sent = async (
  ask: AskStream,
  unit: ImportUnit,
  query: URLSearchParams,
  progress: Progress,
): Promise<ImportAnswer> => {
  const file = unit.open()
  try {
    const body = Readable.from(progress.counted(file))
    return readJson(await text(await ask('POST', `/api/v1/runs/import?${query}`, body))) as ImportAnswer
  } finally {
    file.destroy()
  }
}

const say = (
  answers: readonly ImportAnswer[],
  failed: readonly FailedFile[],
  searched: boolean,
  { options }: Input,
  io: Io,
): void => {
  const [only] = answers
  if (options.json === true) {
    const whole = {
      imported: answers.flatMap(({ imported }) => imported),
      skipped: answers.flatMap(({ skipped }) => skipped),
      warnings: answers.flatMap(({ warnings }) => warnings),
      failed,
    }
    io.out.write(`${writeJson(answers.length === 1 && failed.length === 0 && !searched ? only : whole)}\n`)
    return
  }
  for (const { trace_id } of answers.flatMap(({ imported }) => imported)) io.out.write(`${trace_id}\n`)
  if (options.quiet === true) return
  for (const answer of answers) for (const line of remarks(answer)) io.err.write(`${line}\n`)
  for (const { file, message } of failed) io.err.write(`${terminalLine(file)}: ${terminalText(message)}\n`)
  if (only?.dry_run === true) io.err.write('Nothing was imported: this was a dry run.\n')
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
}

/** Why a run got another id. */
const conflictText = (trace_id: string): string =>
  isAddressable(trace_id) ? `${trace_id} exists already` : `No run can be called ${trace_id}`

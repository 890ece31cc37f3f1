import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Gateway, GuardError, type Input, type Io, readJson, terminalText } from 'guard-gateway/core'
import { type AskOptions, asking } from './ask.ts'

interface Imported {
  readonly imported: readonly {
    readonly trace_id: string
    readonly source_trace_id: string
    readonly remapped: boolean
  }[]
  readonly skipped: readonly { readonly source_trace_id: string }[]
  readonly warnings: readonly { readonly message: string; readonly line?: number }[]
}

/** Takes in a file of exported runs, all of it or nothing, and prints the trace ids; what it passed over goes to `err`. Throws USAGE where the file cannot be read. */
export const importFile = async (gateway: Gateway, options: AskOptions, input: Input, io: Io): Promise<number> => {
  const name = input.args[0] ?? ''
  const file = await readFile(resolve(io.cwd, name)).catch((cause: Error) => {
    throw new GuardError('USAGE', `${name} cannot be read: ${cause.message}`, { cause })
  })
  const query = new URLSearchParams({ on_conflict: String(input.options.onConflict ?? 'remap') })
  if (input.options.project !== undefined) query.set('project_id', String(input.options.project))
  const path = `/api/v1/runs/import?${query}`
  const answer = await asking(gateway, options, async (ask) => text(await ask('POST', path, file)))
  if (input.options.json === true) io.out.write(`${answer}\n`)
  else say(readJson(answer) as Imported, input, io)
  return 0
}

const say = ({ imported, skipped, warnings }: Imported, { options }: Input, io: Io): void => {
  for (const { trace_id } of imported) io.out.write(`${trace_id}\n`)
  if (options.quiet === true) return
  for (const { trace_id, source_trace_id, remapped } of imported)
    if (remapped) io.err.write(`${source_trace_id} exists already; imported as ${trace_id}\n`)
  for (const { source_trace_id } of skipped) io.err.write(`${source_trace_id} exists already; skipped\n`)
  for (const { message, line } of warnings)
    io.err.write(`warning: ${line === undefined ? '' : `line ${line}: `}${terminalText(message)}\n`)
}

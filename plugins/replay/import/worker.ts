import { parentPort, workerData } from 'node:worker_threads'
import { GuardError } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { type FileReader, readFile, reads, slicesOf } from './file.ts'
import { type FromReader, importContext, type ReadStart } from './protocol.ts'
import { fileAt } from './spool.ts'

// Reads one import file in a thread, so that the main thread never parses a large one.

const { descriptor, formats, argument_key } = workerData as ReadStart
const port = parentPort
if (port === null) throw new TypeError('this module runs in a worker thread')
const say = (message: FromReader) => port.postMessage(message)

const isReader = (value: unknown, id: string): value is FileReader =>
  isJsonObject(value) && value.id === id && typeof value.accepts === 'function' && typeof value.read === 'function'

/** Finds a format by id among the exports of its module. */
const formatIn = async ({ id, module }: ReadStart['formats'][number]) => {
  const exported: Readonly<Record<string, unknown>> = await import(module)
  const found = Object.values(exported).find((value) => isReader(value, id))
  if (!isReader(found, id)) throw new TypeError(`${module} exports no format "${id}" that reads files.`)
  return found
}

const reading = async () => {
  try {
    const readers = (await Promise.all(formats.map(formatIn))).filter(reads)
    return { found: readFile(fileAt(descriptor), readers, importContext(argument_key)) }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    const { path, line, column, known } = error.place
    const place = {
      ...(path === undefined ? {} : { path }),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
      ...(known === undefined ? {} : { known }),
    }
    say({ kind: 'refused', code: error.entry, message: error.message, place })
    return undefined
  }
}

const done = await reading()
if (done !== undefined && done.found === undefined) say({ kind: 'unknown' })
else if (done?.found !== undefined) {
  const { format, runs, warnings } = done.found
  const slices = slicesOf(done.found)
  port.on('message', () => {
    const { value, done: ended } = slices.next()
    say(ended === true ? { kind: 'end', digests: value } : { kind: 'slice', records: value })
  })
  say({ kind: 'found', format, warnings, runs })
}

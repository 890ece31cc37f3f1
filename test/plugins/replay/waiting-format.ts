import { existsSync } from 'node:fs'
import { exportFormat, type ImportReading, type ImportSource, type TraceWriter } from '#lib/export-format'

const run = (trace_id: string): ImportReading => ({
  runs: [{ run: { trace_id }, spans: 0, events: 0, artifacts: 0 }],
  warnings: [],
  *records() {},
})

const nothing = (): string => ''
/** Writes nothing. */
const writer = (): TraceWriter => ({ begin: nothing, span: nothing, event: nothing, artifact: nothing, end: nothing })

const begins = (file: ImportSource, word: string): boolean => file.text().startsWith(word)

const wordsOf = (text: string): string => text.split(' ', 2)[1] ?? ''

/** Blocks its thread until the file at the path in its second word exists. */
export const waiting = exportFormat({
  id: 'waiting',
  mediaType: 'text/plain',
  extension: 'txt',
  module: import.meta.url,
  writer,
  accepts: (file) => begins(file, 'waiting '),
  read(file) {
    const clock = new Int32Array(new SharedArrayBuffer(4))
    const gate = wordsOf(file.text())
    while (!existsSync(gate)) Atomics.wait(clock, 0, 0, 5)
    return run('waited')
  },
})

/** Needs more memory than available. */
export const greedy = exportFormat({
  id: 'greedy',
  mediaType: 'text/plain',
  extension: 'txt',
  module: import.meta.url,
  writer,
  accepts: (file) => begins(file, 'greedy '),
  read() {
    const all: object[] = []
    for (;;) all.push(new Array(1_000_000).fill(0.5))
  },
})

/** A format without a module: only the thread that created it can use it. */
export const local = exportFormat({
  id: 'local',
  mediaType: 'text/plain',
  extension: 'txt',
  writer,
  accepts: (file) => begins(file, 'local '),
  read: (file) => run(wordsOf(file.text())),
})

import { existsSync } from 'node:fs'
import { exportFormat, type Imported } from 'guard-gateway/core'

const run = (trace_id: string): Imported => ({
  runs: [{ run: { trace_id }, spans: [], events: [], artifacts: [] }],
  warnings: [],
})

const wordsOf = (text: string): string => text.split(' ', 2)[1] ?? ''

/** Reads a file only when there is another one, whose path is its second word; blocks its thread until then. */
export const waiting = exportFormat({
  id: 'waiting',
  mediaType: 'text/plain',
  extension: 'txt',
  module: import.meta.url,
  *write() {},
  accepts: (text) => text.startsWith('waiting '),
  read(text) {
    const clock = new Int32Array(new SharedArrayBuffer(4))
    while (!existsSync(wordsOf(text))) Atomics.wait(clock, 0, 0, 5)
    return run('waited')
  },
})

/** Needs more memory than there is. */
export const greedy = exportFormat({
  id: 'greedy',
  mediaType: 'text/plain',
  extension: 'txt',
  module: import.meta.url,
  *write() {},
  accepts: (text) => text.startsWith('greedy '),
  read() {
    const all: object[] = []
    for (;;) all.push(new Array(1_000_000).fill(0.5))
  },
})

/** A format whose module nobody knows: only the thread that made it can read by it. */
export const local = exportFormat({
  id: 'local',
  mediaType: 'text/plain',
  extension: 'txt',
  *write() {},
  accepts: (text) => text.startsWith('local '),
  read: (text) => run(wordsOf(text)),
})

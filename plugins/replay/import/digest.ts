import { createHash } from 'node:crypto'
import type { ImportedRecord, ImportedRun } from 'guard-gateway/lib/export-format'
import { sha256 } from 'guard-gateway/lib/ids'
import { canonicalJson } from 'guard-gateway/lib/trace'

const kinds = ['span', 'event', 'artifact'] as const

const hashes = () => ({ span: createHash('sha256'), event: createHash('sha256'), artifact: createHash('sha256') })

/** SHA-256 (hex) of each run of a file, independent of ids and project, computed as records are read. */
export class Digests {
  readonly #runs: readonly ImportedRun[]
  readonly #hashes: readonly ReturnType<typeof hashes>[]

  constructor(runs: readonly ImportedRun[]) {
    this.#runs = runs
    this.#hashes = runs.map(hashes)
  }

  add({ kind, run, parent, record }: ImportedRecord): void {
    const { id: _id, ...about } = record
    const own = { ...about, parent_id: undefined, span_id: undefined, parent }
    this.#hashes[run]?.[kind].update(`${canonicalJson(own)}\n`)
  }

  /** Digest of each run, after all records. */
  end(): readonly string[] {
    return this.#hashes.map((of, place) => {
      const { trace_id: _trace, project_id: _project, ...about } = this.#runs[place]?.run ?? {}
      return sha256(canonicalJson([about, kinds.map((kind) => of[kind].digest('hex'))]))
    })
  }
}

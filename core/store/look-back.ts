/** Longer than sums are put off: where none was behind for so long, none is behind before. */
const SETTLED_MS = 5_000
/** No sums were ever further behind the last record than this. */
const FURTHEST_MS = 30_000

/** How far behind the newest record those are looked for whose sums a process did not come to write before it died. */
export class LookBack {
  readonly #furthest: number
  #until: number

  /** `newest`: when the last record was made, epoch milliseconds. */
  constructor(newest: number) {
    this.#furthest = newest - FURTHEST_MS
    this.#until = newest - SETTLED_MS
  }

  /** Sums were found that do not hold a record of this time. */
  behind(at: number): void {
    this.#until = Math.max(this.#furthest, Math.min(this.#until, at - SETTLED_MS))
  }

  /** Whether records before this time are worth a look. */
  reaches(at: number): boolean {
    return at >= this.#until
  }
}

import type { Connection } from './connection/connection.ts'
import { plain } from './connection/statement.ts'
import type { CommitMarkers } from './writes/commit-markers.ts'

const EVERY_MS = 2_000
const CLOCK_EVERY_MS = 600_000
const OLD_EVERY_MS = 3_600_000
/** So many markers are removed at once, or fewer when nothing is written. */
const MANY_MARKERS = 1_000
/** Clocks that differ by more get a note. */
const CLOCK_LIMIT_MS = 5_000

export interface UpkeepDependencies {
  readonly markers: CommitMarkers
  /** Runs work on a connection, if the server is there. */
  readonly use: (work: (connection: Connection) => Promise<void>) => Promise<void>
  /** Whether it is not known to be possible to write. */
  readonly isDown: () => boolean
  /** It is possible to write again. */
  readonly onWritable: () => void
}

/** What is done now and then: markers are removed, the clock is compared, and a storage that could not be written is tried. */
export class Upkeep {
  readonly #dependencies: UpkeepDependencies
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #clock_at = 0
  #old_at = 0
  #written = 0
  #clock_note: string | undefined

  constructor(dependencies: UpkeepDependencies) {
    this.#dependencies = dependencies
    this.#timer = setInterval(() => this.#start(), EVERY_MS).unref()
  }

  /** What is to be said of the clock; undefined if nothing. */
  get clock_note(): string | undefined {
    return this.#clock_note
  }

  /** Compares the clocks. */
  async compareClock(connection: Connection): Promise<void> {
    const before = Date.now()
    const [result] = await connection.run([plain('select extract(epoch from clock_timestamp()) * 1000')])
    const middle = (before + Date.now()) / 2
    this.#clock_note = clockNote(middle - Number(result?.rows[0]?.[0]))
    this.#clock_at = performance.now()
  }

  /** Stops. Resolves when nothing of it runs any more. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#running
  }

  #start(): void {
    const { use } = this.#dependencies
    // a server that is away is the pool's affair
    this.#running = this.#running.then(() => use((connection) => this.#round(connection))).catch(() => {})
  }

  async #round(connection: Connection): Promise<void> {
    const { markers, isDown, onWritable } = this.#dependencies
    if (isDown()) await this.#probe(connection).then(onWritable)
    const { surplus } = markers
    if (surplus > MANY_MARKERS || (surplus > 0 && surplus === this.#written)) await markers.remove(connection)
    this.#written = markers.surplus
    const now = performance.now()
    if (now - this.#clock_at > CLOCK_EVERY_MS) await this.compareClock(connection)
    if (now - this.#old_at < OLD_EVERY_MS) return
    this.#old_at = now
    await markers.removeOld(connection)
  }

  /** Writes something small. */
  async #probe(connection: Connection): Promise<void> {
    const { markers } = this.#dependencies
    const number = markers.begin()
    try {
      await connection.run([markers.statement(number)])
    } finally {
      markers.end(number)
    }
  }
}

/** `ahead_ms`: how far the clock of this process is ahead of that of the database. */
export const clockNote = (ahead_ms: number): string | undefined => {
  if (Math.abs(ahead_ms) <= CLOCK_LIMIT_MS) return undefined
  const seconds = Math.round(Math.abs(ahead_ms) / 1_000)
  const way = ahead_ms > 0 ? 'ahead of' : 'behind'
  return `The clock of this process is ${seconds} s ${way} that of the database: times of its records are wrong by so much. Set the clocks by NTP.`
}

/** Writes messages into a pipe, each on a line of its own. */
export class LineWriter {
  /** Resolves when the reader is gone. */
  readonly over: Promise<void>
  readonly #out: NodeJS.WritableStream
  #buffer: PromiseWithResolvers<void> | undefined
  #isOver = false

  constructor(out: NodeJS.WritableStream) {
    this.#out = out
    this.over = new Promise((resolve) => {
      const onOver = () => {
        this.#isOver = true
        this.#makeRoom()
        resolve()
      }
      out
        .on('drain', () => this.#makeRoom())
        .on('error', onOver)
        .on('close', onOver)
    })
  }

  /** Resolves when there is room for more, or the reader is gone. */
  get room(): Promise<void> {
    return this.#buffer?.promise ?? ROOM
  }

  /** Writes JSON, which holds line ends only between its parts; resolves as `room` does. */
  write(json: Buffer | string): Promise<void> {
    if (this.#isOver) return ROOM
    if (!this.#out.write(lineOf(json))) this.#buffer ??= Promise.withResolvers<void>()
    return this.room
  }

  #makeRoom(): void {
    this.#buffer?.resolve()
    this.#buffer = undefined
  }
}

const ROOM = Promise.resolve()
const LF = 10
const CR = 13
const LINE_END = Buffer.from([LF])

const lineOf = (json: Buffer | string): Buffer | string => {
  if (typeof json === 'string') return `${json.replace(/[\r\n]/g, ' ')}\n`
  return json.includes(LF) || json.includes(CR) ? lineOf(json.toString()) : Buffer.concat([json, LINE_END])
}

import { spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import type { Input, Io } from '#lib/command'
import { displayWidth, terminalWidth, wrapText } from '#lib/terminal'

/** Gives `run` an output that is collected, then prints it with lines broken between words: through a pager if it is longer than the terminal. */
export const throughPager = async (
  io: Io,
  { options }: Pick<Input, 'options'>,
  run: (io: Io) => Promise<number>,
): Promise<number> => {
  const width = terminalWidth(io.out)
  if (width === undefined || options.json === true) return run(io)
  const collected = new CollectedOutput(width)
  try {
    return await run({ ...io, out: collected })
  } finally {
    const text = wrapText(collected.text, width)
    const pager = options.pager === false ? undefined : pagerIn(io.env)
    if (pager === undefined || linesOn(text, width) < rowsOf(io.out) || !(await page(text, pager, io)))
      io.out.write(text)
  }
}

/** What is written, for a terminal of as many columns as the one that it goes to. */
class CollectedOutput extends Writable {
  readonly isTTY = true
  readonly columns: number
  #text = ''

  constructor(columns: number) {
    super({ decodeStrings: false })
    this.columns = columns
  }

  get text(): string {
    return this.#text
  }

  override _write(chunk: string | Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    done()
  }
}

/** The pager's command line, as a shell takes it; undefined where nothing is to be paged. */
const pagerIn = ({ GUARD_PAGER, PAGER, TERM }: Io['env']): string | undefined => {
  const chosen = GUARD_PAGER ?? PAGER ?? (process.platform === 'win32' ? 'more' : 'less')
  return chosen.trim() === '' || chosen.trim() === 'cat' || TERM === 'dumb' ? undefined : chosen
}

const rowsOf = (out: Io['out']): number =>
  'rows' in out && typeof out.rows === 'number' && out.rows > 0 ? out.rows : Number.POSITIVE_INFINITY

/** Rows of a terminal that a text takes. */
const linesOn = (text: string, width: number): number =>
  text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(displayWidth(line) / width)), 0)

const NOT_STARTED = new Set([126, 127])

/** Whether the pager has shown the text; false where it cannot be started. */
const page = async (text: string, pager: string, { env, cwd }: Io): Promise<boolean> => {
  // Ctrl-C is for the pager, which ends by itself
  const ignore = (): void => {}
  process.on('SIGINT', ignore)
  try {
    return await new Promise<boolean>((resolve) => {
      // less: leave at once what fits on the screen, show colours, keep what was shown
      const child = spawn(pager, {
        shell: true,
        cwd,
        env: { LESS: 'FRX', LV: '-c', ...env },
        stdio: ['pipe', 'inherit', 'inherit'],
      })
      child.once('error', () => resolve(false))
      child.once('close', (code) => resolve(!NOT_STARTED.has(code ?? 0)))
      // who has read enough leaves
      child.stdin.on('error', ignore)
      child.stdin.end(text)
    })
  } finally {
    process.off('SIGINT', ignore)
  }
}

import type { Io } from 'guard-gateway/core'
import { main } from './main.ts'

/** Runs this process's command line, then ends the process with its exit code. */
export const runProcess = async (): Promise<never> => {
  const io: Io = {
    out: process.stdout,
    err: process.stderr,
    in: process.stdin,
    env: process.env,
    cwd: process.cwd(),
  }
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onStreamError)
  const code = await main(process.argv.slice(2), io)
  await flushed(process.stdout)
  await flushed(process.stderr)
  process.exit(code)
}

/** A reader that has left, as in `guard … | head`, is no failure. */
const onStreamError = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()))

import type { Io } from '#lib/command'
import { directReason } from '#lib/network'
import { main } from './main.ts'

/** Runs the command line of this process and exits with its code. */
export const runProcess = async (): Promise<never> => {
  // Node may route fetch through a proxy, even to this machine
  Object.assign(process.env, directReason('', process.env))
  const io: Io = {
    out: process.stdout,
    err: process.stderr,
    in: process.stdin,
    env: process.env,
    cwd: process.cwd(),
  }
  const code = await main(process.argv.slice(2), io)
  await flushed(process.stdout)
  await flushed(process.stderr)
  process.exit(code)
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()))

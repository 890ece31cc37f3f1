import type { Io } from 'guard-gateway/lib/command'
import { directTo } from 'guard-gateway/lib/network'
import { main } from './main.ts'

/** Runs this process's command line, then ends the process with its exit code. */
export const runProcess = async (): Promise<never> => {
  // Node may be told to let its fetch, by which commands ask the gateway, go through a proxy even to this machine
  Object.assign(process.env, directTo('', process.env))
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

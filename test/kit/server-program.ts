import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A server that is a program of its own, for as long as a test wants it. */
export interface ServerProgram extends AsyncDisposable {
  readonly port: number
  /** What it has written. */
  said(): string
}

/** Starts a program that listens on the port it is told; resolves when it does. `args` may write its configuration first. */
export const startProgram = async (
  command: string,
  args: (port: number) => Promise<readonly string[]>,
): Promise<ServerProgram> => {
  const port = await freePort()
  const child = spawn(command, await args(port), { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  let isOver = false
  const closed = once(child, 'close').then(() => {
    isOver = true
  })
  while (!(await answers(port))) {
    if (isOver) throw new Error(`${command} ended before it served: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return {
    port,
    said: () => text,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await closed
    },
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const told = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', told(true)).once('error', told(false))
  })

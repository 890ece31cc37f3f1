import { GuardError } from 'guard-gateway/core'
import type { Command, Input, Io } from '#lib/command'
import { terminalLine } from '#lib/text'
import { isMisbehaviour, misbehaviours } from './misbehave.ts'
import type { TestServer, TestServerOptions } from './server.ts'

const PORT = 8790

/** `guard mcp test-server`: an MCP server with something of everything, to try clients, policies and the proxy with. */
export const testServerCommand: Command = {
  id: 'mcp test-server',
  summary: 'an MCP server with something of everything, to try clients and policies with',
  options: {
    '--transport <how>': 'http or stdio; http if not said',
    '--port <number>': `listen here on 127.0.0.1; ${PORT} if not said, 0 lets the system choose`,
    '--page-size <number>': 'tools on one page of a list; all if not said',
    '--misbehave <how>': `do one thing wrong: ${Object.keys(misbehaviours).join(', ')}`,
  },
  choices: { '--transport': ['http', 'stdio'], '--misbehave': Object.keys(misbehaviours) },
  example: [
    'guard mcp test-server --port 8790',
    'guard mcp run --server-id test --policy policy.yml -- guard mcp test-server --transport stdio',
  ],
  standalone: true,
  run: (input, io) => run(input, io),
}

const run = async (input: Input, io: Io): Promise<number> => {
  const transport = wordOf(input, 'transport') ?? 'http'
  if (transport !== 'http' && transport !== 'stdio') throw new GuardError('USAGE', '--transport is http or stdio.')
  const port = numberOf(input, 'port', 0, 65_535) ?? PORT
  const options = serverOptions(input)
  const { TestServer } = await import('./server.ts')
  const server = new TestServer(options)
  return transport === 'stdio' ? overStdio(server, io) : overHttp(server, port, io)
}

const overStdio = async (server: TestServer, io: Io): Promise<number> => {
  const { serveStdio } = await import('./stdio.ts')
  const { promise: dropped, resolve } = Promise.withResolvers<number>()
  const input = io.in ?? process.stdin
  const served = serveStdio(server, { in: input, out: io.out, gone: () => resolve(1) }).then(() => 0)
  const code = await Promise.race([served, dropped])
  if ('destroy' in input && typeof input.destroy === 'function') input.destroy()
  return code
}

const overHttp = async (server: TestServer, port: number, io: Io): Promise<number> => {
  const { serveHttp } = await import('./http/serve.ts')
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  const onSignal = () => resolve()
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    const served = await serveHttp(server, port).catch((cause: unknown) => {
      throw taken(port, cause)
    })
    io.err.write(`MCP test server on ${served.url}\n`)
    await stopped
    await served.close()
    return 0
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

const taken = (port: number, cause: unknown): unknown =>
  (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
    ? new GuardError('PORT_TAKEN', `127.0.0.1:${port} is taken. Choose another port with --port; 0 takes a free one.`, {
        cause,
      })
    : cause

const serverOptions = (input: Input): TestServerOptions => {
  const misbehave = wordOf(input, 'misbehave')
  const page_size = numberOf(input, 'pageSize', 1, 1_000)
  if (misbehave !== undefined && !isMisbehaviour(misbehave)) {
    const known = Object.keys(misbehaviours)
    throw new GuardError('USAGE', `--misbehave is one of ${known.join(', ')}, not "${terminalLine(misbehave)}".`, {
      known,
    })
  }
  return { ...(page_size === undefined ? {} : { page_size }), ...(misbehave === undefined ? {} : { misbehave }) }
}

const wordOf = ({ options }: Input, name: string): string | undefined => {
  const value = options[name]
  return value === undefined ? undefined : String(value)
}

const numberOf = (input: Input, name: string, least: number, most: number): number | undefined => {
  const word = wordOf(input, name)
  if (word === undefined) return undefined
  const value = /^\d+$/.test(word) ? Number(word) : Number.NaN
  if (value >= least && value <= most) return value
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new GuardError('USAGE', `--${flag} is a whole number from ${least} to ${most}.`)
}

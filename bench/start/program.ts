import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { guardProgram, programFlags } from '../programs.ts'

/** A program with a measured start. */
export interface Program {
  readonly name: string
  /** Arguments of `node`. */
  readonly args: readonly string[]
  /** Standard input. The first line of output is the response. Absent: the exit is the response. */
  readonly input?: string
}

const guard = [...programFlags, guardProgram]

/** A minimal MCP server with one response. */
const SERVER = `process.stdin.once('data', () => process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"least","version":"1"}}}\\n'))`
const POLICY = fileURLToPath(import.meta.resolve('guard-gateway/mcp-policies/filesystem.yml'))
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}\n'

const proxied = (...options: readonly string[]): readonly string[] => [
  ...[...guard, 'mcp', 'run', '--server-id', 'least', ...options],
  ...['--', process.execPath, '-e', SERVER],
]

/** Programs without the gateway come first. The time above them is its own. */
export const programs: readonly Program[] = [
  { name: 'node', args: ['-e', '0'] },
  { name: 'guard --help', args: [...guard, '--help'] },
  { name: 'an MCP server', args: ['-e', SERVER], input: INITIALIZE },
  { name: 'guard mcp run with that server', args: proxied(), input: INITIALIZE },
  { name: 'guard mcp run under a policy', args: proxied('--policy', POLICY), input: INITIALIZE },
]

/**
 * Starts a program with `folder` as its home. Resolves to the milliseconds until its response, after it has exited.
 * Throws if it exits without one.
 */
export const timeToResponse = async ({ name, args, input }: Program, folder: string): Promise<number> => {
  const began = performance.now()
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder }
  const child = spawn(process.execPath, args, { cwd: folder, env })
  const ended = once(child, 'exit')
  if (input === undefined) {
    child.stdout.resume()
    await ended
    return performance.now() - began
  }
  child.stdin.write(input)
  const spent = await firstResponse(child, name, began)
  child.stdin.end()
  await ended
  return spent
}

const firstResponse = (child: ChildProcessWithoutNullStreams, name: string, began: number): Promise<number> =>
  new Promise((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (bytes: Buffer) => {
      said += bytes
    })
    child.once('exit', (code) => reject(new Error(`"${name}" ended with ${code} before it answered: ${said}`)))
    child.stdout.once('data', () => resolve(performance.now() - began))
  })

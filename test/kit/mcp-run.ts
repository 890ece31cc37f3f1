import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { main } from '../../presets/default/main.ts'
import { type FakeIo, fakeIo } from './io.ts'

const CHILD = join(import.meta.dirname, 'mcp-child.ts')

/** `guard mcp run` inside this process, with a client at its standard input and output. */
export interface McpRun {
  readonly folder: string
  readonly io: FakeIo
  send(line: string | Buffer): void
  /** The next line that the client gets. */
  next(): Promise<string>
  /** Every further line until the end. */
  rest(): Promise<readonly string[]>
  /** Ends the client's output. */
  end(): void
  /** Reads no more. */
  leave(): void
  /** The exit code. */
  readonly code: Promise<number>
  close(): Promise<void>
}

export interface McpRunOptions {
  readonly policy?: string
  readonly config?: string
  readonly flags?: readonly string[]
  /** Flags of the child, or another command. */
  readonly child?: readonly string[]
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export const mcpRun = async ({
  policy = 'version: 1\ndefault: allow\nrules: []\n',
  config = 'storage: { backend: memory }',
  flags = [],
  child = [],
  command = [process.execPath, ...process.execArgv.filter((word) => word.startsWith('--conditions')), CHILD, ...child],
  env = {},
}: McpRunOptions = {}): Promise<McpRun> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-run-'))
  await writeFile(join(folder, 'policy.yml'), policy)
  await writeFile(join(folder, 'guard-config.yml'), `gateway_key: guard_test_key_that_is_long_enough\n${config}`, {
    mode: 0o600,
  })
  const input = new PassThrough()
  const output = new PassThrough()
  const io = {
    ...fakeIo({ cwd: folder, env }),
    in: input,
    out: Object.assign(output, { isTTY: false }),
  } as unknown as FakeIo
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const code = main(['mcp', 'run', '--server-id', 'child', '--policy', 'policy.yml', ...flags, '--', ...command], io)
  void code.then(() => output.end())
  return {
    folder,
    io,
    send: (line) => void input.write(typeof line === 'string' ? `${line}\n` : line),
    next: async () => {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`The output has ended. ${io.errText()}`)
      return value
    },
    rest: async () => {
      const left: string[] = []
      for (let one = await lines.next(); one.done !== true; one = await lines.next()) left.push(one.value)
      return left
    },
    end: () => void input.end(),
    leave: () => void output.destroy(new Error('write EPIPE')),
    code,
    close: async () => {
      input.end()
      await code
      await rm(folder, { recursive: true, force: true })
    },
  }
}

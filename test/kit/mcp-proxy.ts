import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveHttp, TestServer } from '../../plugins/mcp/test-server/index.ts'
import { main } from '../../presets/default/main.ts'
import { guardProgram } from './child-gateway.ts'
import { fakeIo } from './io.ts'
import { startMcp } from './mcp.ts'
import type { SdkWay } from './mcp-sdk.ts'

const SERVER = join(import.meta.dirname, 'mcp-test-server.ts')
const NODE = process.execArgv.filter((word) => word.startsWith('--conditions'))

/** A way to a server through the proxy, and somebody who says yes or no. */
export interface ProxiedServer {
  readonly way: SdkWay
  allow(approval_id: string): Promise<void>
  deny(approval_id: string, reason: string): Promise<void>
}

/** What starts the test server on standard input and output. */
export const testServerCommand = [process.execPath, ...NODE, SERVER] as const

/** The test server as a configuration names one that the gateway starts, once for each session: with the compiled code of those before it is ready sooner. */
export const testServerChild = (...words: readonly string[]) => {
  const [command, ...args] = [...testServerCommand, ...words]
  const { NODE_COMPILE_CACHE = '' } = process.env
  return { transport: 'stdio', command, args, env: { NODE_COMPILE_CACHE } }
}

/** The test server behind a gateway over HTTP. */
export const httpServer = async (opened: AsyncDisposableStack, policy: string): Promise<ProxiedServer> => {
  const server = opened.adopt(await serveHttp(new TestServer({ page_size: 10 }), 0), (one) => one.close())
  const target = `test: { transport: http, target: "${server.url}" }`
  const { gateway } = opened.use(await startMcp({ policy, servers: target }))
  return {
    way: { url: `${gateway.url}/mcp/test`, key: gateway.key },
    async allow(id) {
      const { status, text } = await gateway.request('POST', `/api/v1/mcp/approvals/${id}`, { action: 'allow' })
      assert.equal(status, 200, text)
    },
    // as a person does who types why on the page
    async deny(id, reason) {
      const fields = new URLSearchParams({ action: 'deny', reason })
      const answer = await fetch(`${gateway.url}/ui/approvals/${id}`, {
        method: 'POST',
        body: fields,
        redirect: 'manual',
      })
      assert.equal(answer.status, 303)
    },
  }
}

/** A server that `guard mcp run` starts, in a folder of its own; `command` may be made of the folder. */
export const runServer = async (
  opened: AsyncDisposableStack,
  policy: string,
  command: (folder: string) => readonly string[] = () => testServerCommand,
  env: (folder: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<ProxiedServer & { readonly folder: string }> => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-proxied-'))
  opened.defer(() => rm(cwd, { recursive: true, force: true }))
  await writeFile(join(cwd, 'policy.yml'), policy)
  // Nothing listens on port 1: the command line asks the database of the proxy.
  const config = 'gateway_key: guard_test_key_that_is_long_enough\nserver: { port: 1 }\n'
  await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  const proxy = ['mcp', 'run', '--server-id', 'test', '--policy', 'policy.yml']
  return {
    folder: cwd,
    way: { command: process.execPath, args: [...guardProgram, ...proxy, '--', ...command(cwd)], cwd, env: env(cwd) },
    async allow(id) {
      const io = fakeIo({ cwd })
      assert.equal(await main(['mcp', 'approvals', 'allow', id], io), 0, io.errText())
    },
    async deny(id, reason) {
      const io = fakeIo({ cwd })
      assert.equal(await main(['mcp', 'approvals', 'deny', id, '--reason', reason], io), 0, io.errText())
    },
  }
}

import { MCPInstrumentation } from '@arizeai/openinference-instrumentation-mcp'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import * as clientStdioModule from '@modelcontextprotocol/sdk/client/stdio.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as serverStdioModule from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'
import { startSdk } from './sdk.mjs'
import { DESCRIPTION, readFile } from './work.mjs'

const isServer = process.argv.includes('--server')
const sdk = startSdk({ resource: { 'service.name': isServer ? 'files' : 'coder' } })
const instrumentation = new MCPInstrumentation()
instrumentation.setTracerProvider(sdk.provider)
instrumentation.manuallyInstrument({ clientStdioModule, serverStdioModule })

/** What an author of a server puts around a tool, with the names of OpenInference. */
const asTool = (args) =>
  sdk.within('read_file', () => readFile(args), {
    attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'read_file' },
  })

if (isServer) {
  const server = new McpServer({ name: 'files', version: '1.0.0' })
  server.registerTool('read_file', { description: DESCRIPTION, inputSchema: { path: z.string() } }, async (args) => ({
    content: [{ type: 'text', text: await asTool(args) }],
  }))
  await server.connect(new serverStdioModule.StdioServerTransport())
  process.stdin.once('end', async () => {
    await sdk.end()
    process.exit(0)
  })
} else {
  const transport = new clientStdioModule.StdioClientTransport({
    command: process.execPath,
    args: [process.argv[1], '--server'],
    env: process.env,
  })
  const client = new Client({ name: 'coder', version: '1.0.0' })
  await client.connect(transport)
  await sdk.within('fix-bug', () => client.callTool({ name: 'read_file', arguments: { path: 'CANARYargument.txt' } }), {
    attributes: { 'openinference.span.kind': 'AGENT', 'session.id': 's-mcp' },
  })
  await client.close()
  await new Promise((resolve) => setTimeout(resolve, 500))
  await sdk.end()
}

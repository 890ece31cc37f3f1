import { TestServer } from '../../plugins/mcp/test-server/server.ts'
import { serveStdio } from '../../plugins/mcp/test-server/stdio.ts'

/** The test server on standard input and output, without the command line around it: it is ready sooner. */
await serveStdio(new TestServer(), { in: process.stdin, out: process.stdout, gone: () => process.exit(1) })

import { isMisbehaviour } from '../../plugins/mcp/test-server/misbehave.ts'
import { TestServer } from '../../plugins/mcp/test-server/server.ts'
import { serveStdio } from '../../plugins/mcp/test-server/stdio.ts'

/** The test server on standard input and output, without the command line around it: it is ready sooner. Takes a misbehaviour. */
const [word = ''] = process.argv.slice(2)
const server = new TestServer(isMisbehaviour(word) ? { misbehave: word } : {})
await serveStdio(server, { in: process.stdin, out: process.stdout, gone: () => process.exit(1) })

import { listenAsPassthrough } from '../load/passthrough-server.ts'

// The baseline as a program of its own. Its argument is the port of the provider, its first line its address, as of a gateway.

// a process that a signal kills does not keep its compiled code, and the next one loads the stripper of types
process.once('SIGTERM', () => process.exit(0))
const port = await listenAsPassthrough(Number(process.argv[2]))
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)

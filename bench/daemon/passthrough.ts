import { listenAsPassthrough } from '../load/passthrough-server.ts'

// The baseline as a program of its own. Its argument is the port of the provider, its first line its address, as of a gateway.

const port = await listenAsPassthrough(Number(process.argv[2]))
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)

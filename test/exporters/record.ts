// Records what exporters of OpenTelemetry post, as files that other programs keep: npx node --conditions=guard-source
// test/exporters/record.ts. The exporters are installed into a temporary folder, and run without a network.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs, promisify } from 'node:util'
import { isIsolated, runIsolated } from '../agents/isolate.ts'

const packages = [
  '@opentelemetry/api@1.9.1',
  '@opentelemetry/exporter-trace-otlp-http@0.223.1',
  '@opentelemetry/exporter-zipkin@2.12.1',
  '@opentelemetry/resources@2.12.1',
  '@opentelemetry/sdk-trace-base@2.12.1',
]
const data = join(import.meta.dirname, '../data/trace-files')
const run = promisify(execFile)

const record = async (dir: string): Promise<void> => {
  const bodies: Record<string, string[]> = { '/zipkin': [], '/otlp': [] }
  const server = createServer(async (request, response) => {
    bodies[request.url ?? '']?.push(await text(request))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await run(process.execPath, [join(dir, 'program.mjs'), `http://127.0.0.1:${port}`])
  server.close()
  await mkdir(data, { recursive: true })
  // a collector's file exporter writes one request a line; Zipkin's interface gives all spans in one list
  await writeFile(join(data, 'collector.jsonl'), bodies['/otlp']?.map((body) => `${body}\n`).join('') ?? '')
  const spans = bodies['/zipkin']?.flatMap((body) => JSON.parse(body) as unknown[])
  await writeFile(join(data, 'zipkin.json'), `${JSON.stringify(spans)}\n`)
}

const { values } = parseArgs({ options: { dir: { type: 'string' } } })
if (values.dir !== undefined && isIsolated()) await record(values.dir)
else {
  const dir = await mkdtemp(join(tmpdir(), 'guard-exporters-'))
  await writeFile(join(dir, 'package.json'), '{"private":true}')
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], { cwd: dir, env })
  await copyFile(join(import.meta.dirname, 'program.mjs.txt'), join(dir, 'program.mjs'))
  process.exitCode = await runIsolated([import.meta.filename, '--dir', dir])
  await rm(dir, { recursive: true, force: true })
}

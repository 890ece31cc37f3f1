import { execFile, spawn } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isIsolated, runIsolated } from '../agents/isolate.ts'
import { Capture } from './capture.ts'
import { Normaliser } from './normalise.ts'
import { RecordedProvider } from './provider.ts'
import { type RecordedSender, recordedSenders } from './senders.ts'

const PROGRAMS = join(import.meta.dirname, 'programs')
const RECORDINGS = join(import.meta.dirname, '../data/otlp-senders')
const LIMIT_MS = 600_000
const WORK_MS = 120_000

/** Installs packages into a folder of their own, without install scripts. */
const install = async (place: string, { packages, prepare }: RecordedSender): Promise<void> => {
  await writeFile(join(place, 'package.json'), '{"private":true,"type":"module"}')
  const words = ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error']
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  const run = promisify(execFile)
  await run('npm', [...words, ...packages], { cwd: place, env, timeout: LIMIT_MS })
  // an agent that comes packed unpacks itself
  if (prepare !== undefined) await run(process.execPath, [join('node_modules', prepare)], { cwd: place, env })
}

/** Lets the sender work where nothing but loopback can be reached; writes what it sent. */
const record = async (place: string, sender: RecordedSender): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), 'home-'))
  const provider = await new RecordedProvider(home).listen()
  const capture = await new Capture().listen()
  const child = spawn(process.execPath, [`${sender.id}.mjs`], {
    cwd: place,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: WORK_MS,
    env: {
      PATH: `${dirname(process.execPath)}:${join(place, 'node_modules/.bin')}:/usr/bin:/bin`,
      HOME: home,
      OPENAI_API_KEY: 'sk-none',
      OPENAI_BASE_URL: `${provider.url}/v1`,
      ANTHROPIC_API_KEY: 'sk-none',
      ANTHROPIC_BASE_URL: provider.url,
      GEMINI_API_KEY: 'none',
      GOOGLE_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: provider.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: capture.url,
      CAPTURE_URL: capture.url,
      PROVIDER_URL: provider.url,
      ...sender.env,
    },
  })
  await new Promise((resolve) => child.once('exit', resolve))
  provider.close()
  capture.close()
  const replaced = [
    [home, '/home/agent'],
    [place, '/srv'],
    [process.execPath, '/usr/bin/node'],
  ] as const
  const resourceSpans = new Normaliser(replaced, sender.left_out).all(capture.resourceSpans)
  await rm(home, { recursive: true, force: true })
  if (capture.resourceSpans.length === 0) throw new Error(`${sender.id} sent no spans`)
  const file = join(RECORDINGS, `${sender.id}.json`)
  await writeFile(file, `${JSON.stringify({ sender: sender.title, resourceSpans })}\n`)
  process.stdout.write(`${file}\n`)
}

const [verb, id, place] = process.argv.slice(2)
if (verb === '--record' && id !== undefined && place !== undefined) {
  const sender = recordedSenders.find((one) => one.id === id)
  if (sender === undefined || !isIsolated()) throw new Error('is started by this program itself')
  await record(place, sender)
} else {
  const names = process.argv.slice(2)
  const wanted = recordedSenders.filter(({ id }) => names.length === 0 || names.includes(id))
  if (wanted.length === 0) throw new Error(`senders: ${recordedSenders.map(({ id }) => id).join(', ')}`)
  for (const sender of wanted) {
    const kept = process.env.GUARD_SENDERS_FOLDER
    const folder = kept === undefined ? await mkdtemp(join(tmpdir(), 'sender-')) : join(kept, sender.id)
    if (kept === undefined) await install(folder, sender)
    await cp(PROGRAMS, folder, { recursive: true })
    const self = process.argv[1] ?? ''
    const code = await runIsolated([self, '--record', sender.id, folder])
    if (code !== 0) process.stderr.write(`${sender.id} was not recorded\n`)
    if (kept === undefined) await rm(folder, { recursive: true, force: true })
  }
}

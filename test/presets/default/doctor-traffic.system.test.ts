import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { FakeProvider } from '../../kit/provider.ts'

test('the share that enforce would have blocked is of all requests on record, however many, and a small one is no warning', async (context) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-doctor-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  const text = `gateway_key: guard_key-of-the-doctor-0123456789abcdef\nupstreams: []\n`
  await writeFile(join(cwd, 'guard-config.yml'), text, { mode: 0o600 })
  const provider = await new FakeProvider().listen()
  context.after(() => provider.close())
  const gateway = await startGateway({ folder: cwd, backend: 'sqlite', upstream: provider.url })
  const send = (session: string, text: string) =>
    gateway.request(
      'POST',
      '/v1/chat/completions',
      { model: 'm-1', messages: [{ role: 'user', content: text }] },
      { 'x-guard-session-id': session },
    )
  for (let n = 0; n < 3; n++) await send('loop', 'again')
  for (let n = 0; n < 540; n++) await send(`s${n}`, `task ${n}`)
  await gateway.close()
  const io = fakeIo({ cwd, env: { PATH: process.env.PATH } })
  await main(['doctor'], io)
  assert.match(
    io.outText(),
    /✓ mode shadow: enforce would have blocked 1 of 543 requests of the last seven days \(under 1 %\); /,
  )
})

test('prices that are old are reported with their date', async (context) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-doctor-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  const text = `gateway_key: guard_key-of-the-doctor-0123456789abcdef\nupstreams: []\nstorage: { backend: memory }\nreplay: { pricing: prices.yml }\n`
  await writeFile(join(cwd, 'guard-config.yml'), text, { mode: 0o600 })
  const look = async (): Promise<string> => {
    const io = fakeIo({ cwd, env: { PATH: process.env.PATH } })
    await main(['doctor'], io)
    return io.outText()
  }
  const file = (as_of: string) =>
    writeFile(join(cwd, 'prices.yml'), `version: 1\ncurrency: USD\nas_of: ${as_of}\nmodels: {}\n`)
  await file('2026-01-31')
  assert.match(
    await look(),
    /! prices are as of 2026-01-31, \d+ days ago\n {2}→ Look for newer ones; guard prices names the sources\./,
  )
  const today = new Date().toISOString().slice(0, 10)
  await file(today)
  assert.match(await look(), new RegExp(`✓ prices as of ${today}`))
})
